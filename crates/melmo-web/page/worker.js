// The worker: it alone knows the module. A job comes in, an answer or a sentence goes out.
let current = 0, told = 0, rows = null, ready = null;

function melmoProgress(step) {
  const now = performance.now();
  if (now - told < 50) return;
  told = now;
  postMessage({ id: current, step });
}

function answer(found, arrays) {
  const facts = JSON.parse(found.facts());
  for (const name of arrays) facts[name] = found.array(name);
  found.free();
  return facts;
}

const JOBS = {
  spoilt: job => answer(wasm_bindgen.spoilt(job.bytes, job.rows, job.cols, 0.1), ["noisy", "clean"]),
  denoise: job => {
    const facts = answer(wasm_bindgen.denoise(job.data, job.rows, job.cols, job.strength, job.prior), ["image"]);
    if (job.clean) facts.psnr = wasm_bindgen.psnr(facts.image, job.clean);
    return facts;
  },
  table: job => {
    rows = job.text ? wasm_bindgen.Rows.parse(job.text) : wasm_bindgen.Rows.example();
    return JSON.parse(rows.about());
  },
  path: job => answer(rows.path(job.target, job.penalty), ["coefficients"]),
  fit: job => answer(rows.fit(job.target, job.penalty, job.lambda), []),
  factors: job => {
    const arrays = ["y", "product", "w"];
    if (!job.text) return answer(wasm_bindgen.football(job.rank, job.lambda), arrays);
    const matrix = wasm_bindgen.Rows.parse(job.text);
    const about = JSON.parse(matrix.about());
    return { ...about, ...answer(matrix.factorize(Math.min(job.rank, about.rows, about.names.length), job.lambda), arrays) };
  },
};

onmessage = async ({ data: job }) => {
  if (job.module) {
    ready = wasm_bindgen({ module_or_path: job.module });
    return;
  }
  current = job.id;
  try {
    await ready;
    const begun = performance.now();
    const facts = JOBS[job.kind](job);
    postMessage({ id: job.id, facts: { ...facts, seconds: (performance.now() - begun) / 1000 } });
  } catch (error) {
    postMessage({ id: job.id, wrong: typeof error === "string" ? error : `it broke: ${error.message}` });
  }
};
