// The page: what is chosen becomes a job for the worker; of several that wait, only the newest is done.
const GLUE = get("worker").textContent;
let worker = null, moduleBytes = null, running = null, waiting = null, count = 0;
const state = { picture: null, table: null, text: null };

function say(text, wrong = false) {
  get("status").textContent = text;
  get("status").classList.toggle("wrong", wrong);
}

const inside = id => new Blob([Uint8Array.from(atob(get(id).textContent.trim()), c => c.charCodeAt(0))]);

async function unpack() {
  const stream = inside("module").stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function start() {
  worker = new Worker(URL.createObjectURL(new Blob([GLUE], { type: "text/javascript" })));
  worker.onmessage = hear;
  worker.onerror = event => say(`It broke: ${event.message}`, true);
  worker.postMessage({ module: moduleBytes });
}

function hear({ data }) {
  if (!running || data.id !== running.id) return;
  if (data.step !== undefined) {
    get("bar").hidden = get("stop").hidden = false;
    get("bar").value = Math.min(1, data.step / running.steps);
    say(`Step ${data.step} …`);
    return;
  }
  const job = running;
  running = null;
  get("bar").hidden = get("stop").hidden = true;
  if (data.wrong) say(data.wrong, true);
  else {
    say("");
    job.done(data.facts);
  }
  job.settled();
  next();
}

function next() {
  if (running || !waiting || !worker) return;
  running = waiting;
  waiting = null;
  const { kind, given, id } = running;
  worker.postMessage({ ...given, kind, id });
}

function ask(kind, given, done, steps = 64) {
  if (waiting) waiting.settled();
  return new Promise(settled => {
    waiting = { kind, given, done, steps, id: ++count, settled };
    next();
  });
}

function stop() {
  worker.terminate();
  running?.settled();
  running = null;
  get("bar").hidden = get("stop").hidden = true;
  say("Stopped.");
  start();
  if (state.table) ask("table", { text: state.table.text }, () => {});
  next();
}

// --- a picture

async function photo(file) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    return say(`${file.name} is no picture that this browser can read.`, true);
  }
  const scale = Math.min(1, 1024 / Math.max(bitmap.width, bitmap.height));
  const [cols, rows] = [Math.max(1, Math.round(scale * bitmap.width)), Math.max(1, Math.round(scale * bitmap.height))];
  const canvas = Object.assign(document.createElement("canvas"), { width: cols, height: rows });
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0, cols, rows);
  const { data: bytes } = context.getImageData(0, 0, cols, rows);
  let grey = true;
  for (let p = 0; grey && p < bytes.length; p += 4) grey = bytes[p] === bytes[p + 1] && bytes[p] === bytes[p + 2];
  show({ ...planes(bytes, rows, cols, grey ? 1 : 3), bytes });
}

// Bytes red, green, blue, opacity become planes; a grey one is their luminance.
function planes(bytes, rows, cols, channels) {
  const pixels = rows * cols, data = new Float32Array(channels * pixels);
  for (let p = 0; p < pixels; p++) {
    const [r, g, b] = bytes.subarray(4 * p, 4 * p + 3);
    if (channels === 1) data[p] = (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
    else [data[p], data[pixels + p], data[2 * pixels + p]] = [r / 255, g / 255, b / 255];
  }
  return { data, rows, cols };
}

function show(picture) {
  state.picture = picture;
  drawPicture(get("before"), picture.data, picture.rows, picture.cols);
  return denoise();
}

function denoise() {
  if (!state.picture) return;
  const prior = get("prior").value, strength = Number(get("strength").value);
  let { data, rows, cols, bytes, clean, psnr } = state.picture;
  if (prior === "learned" && bytes) ({ data } = planes(bytes, rows, cols, 1));
  get("strength-told").textContent = strength.toFixed(2);
  return ask("denoise", { data, rows, cols, strength, prior, clean }, facts => {
    drawPicture(get("after"), facts.image, rows, cols);
    get("save").href = get("after").toDataURL("image/png");
    get("save").hidden = false;
    const more = [["picture", `${cols}×${rows}, ${data.length > rows * cols ? "colour" : "grey"}`], ["noise", `${short(facts.noise)} (estimated)`]];
    if (facts.lambda) more.push(["λ", short(facts.lambda)]);
    if (clean) more.push(["PSNR", `${psnr.toFixed(2)} dB before, ${facts.psnr.toFixed(2)} dB after`]);
    tell(get("picture-facts"), facts, more);
    if (facts.trace.length > 1) drawLines(get("picture-trace"), [facts.trace], { across: "steps", up: "F" });
  });
}

// Our photograph, as the program has it: every second pixel of a picture that was smoothed a little, and noise.
async function camera() {
  const bitmap = await createImageBitmap(inside("photograph"), { colorSpaceConversion: "none" });
  const { width: cols, height: rows } = bitmap, canvas = new OffscreenCanvas(cols, rows), context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const bytes = context.getImageData(0, 0, cols, rows).data.filter((_, i) => i % 4 === 0);
  return ask("spoilt", { bytes: new Uint8Array(bytes), rows, cols }, ({ noisy, clean, rows, cols, psnr }) => show({ data: noisy, clean, rows, cols, psnr }));
}

// --- a table

function table(text) {
  return ask("table", { text }, about => {
    state.table = { ...about, text };
    const left = [about.words.length ? `left out, words: ${about.words.join(", ")}` : "", about.gaps ? `left out, rows with gaps: ${about.gaps}` : ""];
    get("table-about").textContent = [`${about.rows} rows`, ...left].filter(Boolean).join("; ");
    get("target").replaceChildren(...about.names.map((name, j) => new Option(name, j)));
    get("target").value = about.names.length - 1;
    return path();
  });
}

function path() {
  const target = Number(get("target").value), penalty = get("penalty").value;
  return ask("path", { target, penalty }, facts => {
    Object.assign(state.table, { path: facts, columns: state.table.names.filter((_, j) => j !== target) });
    return fit();
  });
}

function fit() {
  if (!state.table?.path) return;
  const { path: { lambdas, coefficients }, columns } = state.table, lambda = lambdas[Number(get("lambda").value)];
  get("lambda-told").textContent = short(lambda);
  const lines = columns.map((_, j) => lambdas.map((l, i) => [l, coefficients[i * columns.length + j]]));
  drawLines(get("path"), lines, { across: "λ", up: "coefficients of columns of spread 1", log: true, now: lambda, names: columns });
  return ask("fit", { target: Number(get("target").value), penalty: get("penalty").value, lambda }, facts => {
    const kept = facts.coefficients.map((value, j) => [columns[j], value]).filter(([, value]) => value !== 0);
    tell(get("table-facts"), facts, [["columns kept", `${kept.length} of ${columns.length}`], ["intercept", short(facts.intercept)]]);
    const top = Math.max(...kept.map(([, value]) => Math.abs(value)));
    get("coefficients").replaceChildren(...kept.sort((p, q) => Math.abs(q[1]) - Math.abs(p[1])).slice(0, 30).map(([name, value]) => {
      const bar = Object.assign(document.createElement("i"), { className: value < 0 ? "minus" : "" });
      bar.style.width = `${Math.max(1, 100 * Math.abs(value) / top)}%`;
      const line = document.createElement("div"), cell = document.createElement("span");
      cell.append(bar);
      line.append(Object.assign(document.createElement("span"), { textContent: name }), cell, Object.assign(document.createElement("span"), { textContent: short(value) }));
      return line;
    }));
  });
}

// --- a matrix

function factors() {
  const rank = Number(get("rank").value), lambda = Number(get("weight").value);
  get("rank-told").textContent = rank;
  get("weight-told").textContent = lambda.toFixed(2);
  return ask("factors", { rank, lambda, text: state.text }, facts => {
    const rows = state.text ? facts.rows : 115, cols = facts.y.length / rows, r = facts.entries / rows;
    drawMatrix(get("y"), facts.y, rows, cols);
    drawMatrix(get("product"), facts.product, rows, cols);
    drawMatrix(get("w"), facts.w, rows, r);
    tell(get("factors-facts"), facts, [["matrix", `${rows}×${cols}, as ${rows}×${r} times ${r}×${cols}`], ["zeros in W", `${facts.zeros} of ${facts.entries}`], ["error", `${short(100 * facts.error)} % of ‖Y‖²`]]);
    if (facts.trace.length > 1) drawLines(get("factors-trace"), [facts.trace], { across: "steps", up: "F" });
  }, 1000);
}

// --- the whole

const bytes = async file => new Uint8Array(await file.arrayBuffer());
const TAKE = {
  picture: photo,
  table: async file => table(await bytes(file)),
  factors: async file => ((state.text = await bytes(file)), factors()),
};
const FIRST = { picture: camera, table: () => table(null), factors };
const seen = new Set();

function turn(name) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const on = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", on);
    get(tab.getAttribute("aria-controls")).hidden = !on;
  }
  if (!seen.has(name)) {
    seen.add(name);
    return FIRST[name]();
  }
}

for (const tab of document.querySelectorAll("[role=tab]")) tab.onclick = () => turn(tab.getAttribute("aria-controls"));
for (const [input, name] of [["photo", "picture"], ["rows", "table"], ["matrix", "factors"]]) {
  get(input).onchange = () => get(input).files[0] && TAKE[name](get(input).files[0]);
  const drop = get(name).querySelector(".drop");
  get(name).ondragover = event => (event.preventDefault(), drop.classList.add("over"));
  get(name).ondragleave = () => drop.classList.remove("over");
  get(name).ondrop = event => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) TAKE[name](event.dataTransfer.files[0]);
  };
}
get("camera").onclick = camera;
get("strength").oninput = get("prior").onchange = () => denoise();
get("stop").onclick = stop;
get("example").onclick = () => table(null);
get("target").onchange = get("penalty").onchange = () => path();
get("lambda").oninput = () => fit();
get("football").onclick = () => ((state.text = null), factors());
get("rank").oninput = get("weight").oninput = () => factors();

unpack().then(bytes => {
  moduleBytes = bytes;
  start();
  say("");
  return turn("picture");
}).catch(error => say(`This browser cannot run it: ${error.message}`, true));
