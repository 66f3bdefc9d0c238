// Text in charts, and where the label of a reference line stands. The same rules as src/chart/label.rs.

const SVG = 'http://www.w3.org/2000/svg';

/** An SVG element with attributes, appended to its parent. */
function shape(parent, name, attributes = {}, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

/** A line of text from [text, script] pairs: 0 on the line, 1 above it, -1 below. */
function label(parent, spans, attributes) {
  const size = attributes['font-size'];
  const text = shape(parent, 'text', attributes);
  let raised = 0;
  for (const [part, script] of spans) {
    const raise = script > 0 ? 0.36 : script < 0 ? -0.2 : 0;
    shape(text, 'tspan', { dy: ((raised - raise) * size).toFixed(1), 'font-size': script ? 0.72 * size : size }, part);
    raised = raise;
  }
  return text;
}

const canvas = document.createElement('canvas').getContext('2d');

/** How wide a line of text is. */
function textWidth(spans, size) {
  canvas.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return spans.reduce((sum, [text, script]) => sum + canvas.measureText(text).width * (script ? 0.72 : 1), 0);
}

/** Points along a line, no further apart than six pixels. */
function dense(line) {
  const out = line.slice(0, 1);
  for (let i = 1; i < line.length; i++) {
    const [a, b] = [line[i - 1], line[i]];
    const count = Math.min(2000, Math.max(1, Math.ceil(Math.hypot(b[0] - a[0], b[1] - a[1]) / 6)));
    for (let j = 1; j <= count; j++) out.push([a[0] + j / count * (b[0] - a[0]), a[1] + j / count * (b[1] - a[1])]);
  }
  return out;
}

/** The place of a label beside a line that covers the fewest of the busy points; null when there is no room. */
function placeLabel(line, width, busy, { left, right, top, bottom }) {
  let best = null;
  for (const [u, v] of dense(line).reverse().filter((_, i) => i % 2 === 0)) {
    for (const [side, shift] of [[-1, -7], [-1, 14], [1, -7], [1, 14]]) {
      const [x, base] = [u + 5 * side, v + shift];
      const from = side < 0 ? x - width : x;
      if (from < left || from + width > right || base - 9 < top || base + 4 > bottom) continue;
      const covered = busy.filter(([p, q]) => p > from - 3 && p < from + width + 3 && q > base - 11 && q < base + 5).length;
      if (!best || covered < best.covered) best = { covered, x, y: base, from, 'text-anchor': side < 0 ? 'end' : 'start' };
      if (best.covered === 0) return best;
    }
  }
  return best;
}

