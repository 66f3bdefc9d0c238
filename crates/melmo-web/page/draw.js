// Drawing: pictures, matrices, lines, facts.
const get = id => document.getElementById(id);
const short = value => (value === 0 ? "0" : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4))));
const SHAPE = "http://www.w3.org/2000/svg";

function shape(kind, attributes, text) {
  const element = document.createElementNS(SHAPE, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Planes of numbers from 0 to 1.
function drawPicture(canvas, data, rows, cols) {
  const pixels = rows * cols, channels = data.length / pixels, image = new ImageData(cols, rows);
  for (let p = 0; p < pixels; p++) {
    for (let c = 0; c < 3; c++) image.data[4 * p + c] = 255 * data[(channels === 3 ? c : 0) * pixels + p];
    image.data[4 * p + 3] = 255;
  }
  [canvas.width, canvas.height] = [cols, rows];
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// A matrix: white is 0, teal above it, orange below.
function drawMatrix(canvas, data, rows, cols) {
  let top = 1e-12;
  for (const value of data) if (Math.abs(value) > top) top = Math.abs(value);
  const image = new ImageData(cols, rows);
  for (let p = 0; p < rows * cols; p++) {
    const part = Number.isNaN(data[p]) ? 0 : data[p] / top, ink = part < 0 ? [216, 67, 21] : [0, 105, 92];
    for (let c = 0; c < 3; c++) image.data[4 * p + c] = 255 + (ink[c] - 255) * Math.abs(part);
    image.data[4 * p + 3] = 255;
  }
  [canvas.width, canvas.height] = [cols, rows];
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// Lines in a box: each a list of [x, y]; `log` for the x axis; a mark at x = now.
function drawLines(svg, lines, { across, up, log = false, now = null, names = [] }) {
  const [width, height] = [svg.clientWidth || 600, svg.clientHeight || 180], left = 56, right = 12, top = 12, bottom = 26;
  const x = log ? Math.log10 : value => value;
  const points = lines.flat(), xs = points.map(p => x(p[0])), ys = points.map(p => p[1]);
  const [a, b, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const px = value => left + (width - left - right) * (x(value) - a) / (b - a || 1);
  const py = value => height - bottom - (height - top - bottom) * (value - low) / (high - low || 1);
  svg.replaceChildren(shape("line", { class: "axis", x1: left, y1: height - bottom, x2: width - right, y2: height - bottom }));
  for (const value of [low, high]) svg.append(shape("text", { x: left - 6, y: py(value) + 4, "text-anchor": "end" }, short(value)));
  svg.append(shape("text", { x: left, y: height - 8 }, short(log ? 10 ** a : a)));
  svg.append(shape("text", { x: width - right, y: height - 8, "text-anchor": "end" }, short(log ? 10 ** b : b)));
  svg.append(shape("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, across));
  // What falls from the left leaves room at the right.
  svg.append(shape("text", { x: width - right, y: top + 4, "text-anchor": "end" }, up));
  lines.forEach((line, i) => {
    const d = line.map((p, k) => `${k ? "L" : "M"}${px(p[0]).toFixed(1)} ${py(p[1]).toFixed(1)}`).join("");
    const path = shape("path", { d, style: lines.length > 1 ? `stroke:hsl(${(i * 137.5 + 170) % 360} 55% 45%)` : "" });
    if (names[i]) path.append(shape("title", {}, names[i]));
    svg.append(path);
  });
  if (now !== null) svg.append(shape("line", { class: "now", x1: px(now), y1: top, x2: px(now), y2: height - bottom }));
}

const ENDED = { certified: "certified", settled: "nothing is left to do", target: "F reached its target", interrupted: "ended by you",
  stalled: "no step leads anywhere", iterations: "all steps taken", time: "time is up", start: "F rose, so this is the start", "not finite": "a number was not finite" };

// What is certain, in words.
function certainty({ dual_norm, prox_gap, gap, verified }, objective) {
  const again = verified ? " Computed once more from the answer alone: the same." : " Computed once more, it was not the same!";
  if (gap !== null && gap !== undefined) {
    const part = Math.abs(100 * gap / objective);
    return `F is within ${short(gap)}${Number.isFinite(part) ? ` (${short(part)} %)` : ""} of the least there is.${again}`;
  }
  return `Stationary to ${short(dual_norm)}, and Tx within ${short(prox_gap)} of a point that has such slopes.${again}`;
}

function tell(list, facts, more = []) {
  const lines = [...more, ["F", short(facts.objective)], ["steps", `${facts.steps} of ${facts.method}, in ${Math.round(1000 * facts.seconds)} ms: ${ENDED[facts.ended] || facts.ended}`]];
  if (facts.certificate) lines.push(["certificate", certainty(facts.certificate, facts.objective)]);
  list.replaceChildren(...lines.flatMap(([name, text]) => [Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: text })]));
}
