// Charts: drawn from the data beside them, redrawn when a switch, the legend or the width changes.

/** Outlines of the marks for a unit radius; the first is a circle. The same as src/palette.rs. */
const MARKS = [
  null,
  [[-.85, -.85], [.85, -.85], [.85, .85], [-.85, .85]],
  [[0, -1.15], [1.1, .8], [-1.1, .8]],
  [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
  [[0, 1.15], [1.1, -.8], [-1.1, -.8]],
  [[-.35, -1.2], [.35, -1.2], [.35, -.35], [1.2, -.35], [1.2, .35], [.35, .35], [.35, 1.2], [-.35, 1.2], [-.35, .35], [-1.2, .35], [-1.2, -.35], [-.35, -.35]],
  [[-1.1, -.6], [-.6, -1.1], [0, -.5], [.6, -1.1], [1.1, -.6], [.5, 0], [1.1, .6], [.6, 1.1], [0, .5], [-.6, 1.1], [-1.1, .6], [-.5, 0]],
];

const path = points => points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
const ink = slot => `var(--s${slot % 8})`;

function mark(parent, slot, [x, y], radius = 3.6) {
  const corners = MARKS[slot % MARKS.length];
  const fill = { style: `fill:${ink(slot)}` };
  if (!corners) return shape(parent, 'circle', { cx: x.toFixed(1), cy: y.toFixed(1), r: radius, ...fill });
  return shape(parent, 'path', { d: path(corners.map(([u, v]) => [x + radius * u, y + radius * v])) + 'Z', ...fill });
}

class Chart {
  constructor(figure) {
    this.figure = figure;
    this.data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    this.plot = figure.querySelector('.plot');
    this.axis = this.data.shown;
    this.logX = this.data.x.map(axis => axis.log);
    this.logY = this.data.y.log;
    this.hidden = new Set();
    this.tip = Object.assign(document.createElement('div'), { className: 'tip', hidden: true });
    this.note = Object.assign(document.createElement('p'), { className: 'caption dropped', hidden: true });
    this.plot.after(this.note);
    this.connect();
    this.draw();
  }

  /** The series that are shown and have values for the axis. */
  visible() {
    return this.data.series.map((series, n) => ({ ...series, n, xs: series.x[this.axis] }))
      .filter(series => series.xs && !this.hidden.has(series.n));
  }

  connect() {
    for (const box of this.figure.querySelectorAll('.controls, .exports')) box.hidden = false;
    for (const group of this.figure.querySelectorAll('[data-switch]')) {
      group.addEventListener('click', event => {
        const button = event.target.closest('button');
        if (button) this.choose(group.dataset.switch, button.dataset.value);
      });
    }
    for (const button of this.figure.querySelectorAll('[data-series]')) {
      button.title = 'Hide or show; with Shift: only this one';
      button.addEventListener('click', event => this.toggle(Number(button.dataset.series), event.shiftKey));
    }
    for (const button of this.figure.querySelectorAll('[data-export]')) {
      button.addEventListener('click', () => this.save(button.dataset.export));
    }
    this.plot.addEventListener('pointermove', event => this.point(event.clientX));
    this.plot.addEventListener('pointerdown', event => this.point(event.clientX));
    this.plot.addEventListener('pointerleave', () => this.unpoint());
    this.plot.addEventListener('focusout', () => this.unpoint());
    this.plot.addEventListener('keydown', event => this.key(event));
    let width = this.plot.clientWidth;
    new ResizeObserver(() => {
      if (this.plot.clientWidth === width || matchMedia('print').matches) return;
      width = this.plot.clientWidth;
      this.draw();
    }).observe(this.plot);
  }

  choose(kind, value) {
    if (kind === 'axis') this.axis = Number(value);
    if (kind === 'x') this.logX[this.axis] = value === 'log';
    if (kind === 'y') this.logY = value === 'log';
    this.draw();
  }

  toggle(n, alone) {
    const others = this.data.series.map((_, i) => i).filter(i => i !== n);
    if (alone) {
      const isAlone = !this.hidden.has(n) && others.every(i => this.hidden.has(i));
      this.hidden = new Set(isAlone ? [] : others);
    } else if (!this.hidden.delete(n)) {
      this.hidden.add(n);
    }
    this.draw();
  }

  /** Shows on the buttons what is drawn. */
  press() {
    const state = { axis: String(this.axis), x: this.logX[this.axis] ? 'log' : 'linear', y: this.logY ? 'log' : 'linear' };
    for (const group of this.figure.querySelectorAll('[data-switch]')) {
      for (const button of group.querySelectorAll('button')) {
        button.setAttribute('aria-pressed', button.dataset.value === state[group.dataset.switch]);
      }
    }
    for (const button of this.figure.querySelectorAll('[data-series]')) {
      button.setAttribute('aria-pressed', !this.hidden.has(Number(button.dataset.series)));
    }
  }

  draw() {
    this.press();
    this.unpoint();
    const width = Math.max(260, this.plot.clientWidth);
    const height = Math.round(Math.min(400, Math.max(270, width * 0.528)));
    const svg = document.createElementNS(SVG, 'svg');
    for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', tabindex: 0 })) svg.setAttribute(key, value);
    svg.setAttribute('aria-label', `${this.data.description} Left and right arrow keys read values.`);
    this.svg = svg;
    this.layout(svg, width, height);
    this.axes(svg);
    const { x, y } = this;
    const inner = shape(svg, 'svg', {
      x: x.from - 5, y: y.to - 5, width: x.to - x.from + 10, height: y.from - y.to + 10,
      viewBox: `${x.from - 5} ${y.to - 5} ${x.to - x.from + 10} ${y.from - y.to + 10}`,
    });
    this.busy = [];
    const lines = this.references(inner);
    const dropped = this.visible().reduce((sum, series) => sum + this.series(inner, series), 0);
    this.labels(svg, lines);
    this.cursor = shape(svg, 'g');
    this.plot.replaceChildren(svg, this.tip);
    this.note.hidden = dropped === 0;
    this.note.textContent = `${dropped} value${dropped === 1 ? ' is' : 's are'} zero or negative and ${dropped === 1 ? 'has' : 'have'} no place on a logarithmic axis.`;
  }

  layout(svg, width, height) {
    const shown = this.visible();
    const levels = this.data.references.filter(r => r.kind === 'horizontal').map(r => r.value);
    const values = shown.flatMap(s => [...s.y, ...(s.band ? s.band.flat() : [])]).concat(levels);
    this.y = placeAxis(this.logY, values, this.data.y.log === this.logY && this.data.y.range, levels.length ? 20 / (height - 116) : 0.04, height - 46, 30);
    this.yTicks = ticks(this.y, (this.y.from - this.y.to) / 36);
    const wide = Math.max(0, ...this.yTicks.filter(t => t.label).map(t => textWidth(t.label, 12)));
    const pad = shown.some(s => s.style === 'points') ? 0.02 : 0;
    const axis = this.data.x[this.axis];
    const log = this.logX[this.axis];
    this.x = placeAxis(log, shown.flatMap(s => s.xs), axis.log === log && axis.range, pad, wide + 10, width - 18);
    this.xTicks = ticks(this.x, (this.x.to - this.x.from) / (width < 500 ? 54 : 84));
  }

  axes(svg) {
    const { x, y } = this;
    const grid = shape(svg, 'g', { class: 'grid' });
    const texts = shape(svg, 'g', { class: 'ticks' });
    for (const tick of this.xTicks) {
      const at = x.at(tick.value).toFixed(1);
      shape(grid, 'path', { d: `M${at} ${tick.label ? y.to : y.from}V${y.from + (tick.label ? 5 : 4)}` });
      if (!tick.label) continue;
      // The last one may not reach over the edge.
      const middle = Math.min(at, svg.getAttribute('width') - textWidth(tick.label, 12) / 2);
      label(texts, tick.label, { x: middle.toFixed(1), y: y.from + 20, 'font-size': 12, 'text-anchor': 'middle' });
    }
    for (const tick of this.yTicks.filter(t => t.label)) {
      const at = y.at(tick.value);
      shape(grid, 'path', { d: `M${x.from} ${at.toFixed(1)}H${x.to}` });
      label(texts, tick.label, { x: x.from - 8, y: (at + 4.2).toFixed(1), 'font-size': 12, 'text-anchor': 'end' });
    }
    shape(svg, 'path', { class: 'base', d: `M${x.from} ${y.from}H${x.to}` });
    label(svg, this.data.x[this.axis].label, { class: 'x-label', x: x.to, y: y.from + 39, 'font-size': 12.5, 'text-anchor': 'end' });
    label(svg, this.data.y.label, { class: 'y-label', x: 0, y: y.to - 14, 'font-size': 12.5 });
  }

  /** Reference lines below the series; their labels come when it is known where the series are. */
  references(inner) {
    const { x, y } = this;
    const out = [];
    for (const reference of this.data.references.filter(r => r.axis === null || r.axis === this.axis)) {
      const { kind, value, exponent } = reference;
      const steps = kind === 'power' ? 100 : 1;
      let points = Array.from({ length: steps + 1 }, (_, i) => x.value(i / steps)).map(v => [v, kind === 'power' ? value * v ** exponent : value]);
      if (kind === 'vertical') points = [[value, y.low], [value, y.high]];
      points = points.map(([a, b]) => [x.at(a), y.at(b)]).filter(p => p.every(Number.isFinite));
      if (!points.length) continue;
      shape(inner, 'path', { class: 'reference', d: path(points) });
      this.busy.push(...dense(points));
      out.push({ points, spans: reference.label });
    }
    return out;
  }

  /** Labels of reference lines. */
  labels(svg, lines) {
    const { x, y } = this;
    for (const { points, spans } of lines) {
      const width = textWidth(spans, 11.5);
      const place = placeLabel(points, width, this.busy, { left: x.from, right: x.to, top: y.to, bottom: y.from });
      if (!place) continue;
      this.busy.push(...dense([[place.from, place.y - 4], [place.from + width, place.y - 4]]));
      label(svg, spans, { class: 'halo reference-label', 'font-size': 11.5, x: place.x, y: place.y, 'text-anchor': place['text-anchor'] });
    }
  }

  /** One series; returns how many of its values have no place on a logarithmic axis. */
  series(inner, { n, slot, style, xs, y: ys, band }) {
    const group = shape(inner, 'g', { class: 'series', 'data-series': n });
    const place = (i, v) => [this.x.at(xs[i]), this.y.at(v)];
    if (band) {
      const [low, high] = band.map(side => side.map((v, i) => place(i, v)).filter(p => p.every(Number.isFinite)));
      shape(group, 'path', { d: path([...low, ...high.reverse()]) + 'Z', style: `fill:${ink(slot)}`, 'fill-opacity': 0.14 });
    }
    const points = ys.map((v, i) => place(i, v));
    const runs = [[]];
    let dropped = 0;
    points.forEach((point, i) => {
      if (point.every(Number.isFinite)) runs.at(-1).push(point);
      else {
        runs.push([]);
        if (ys[i] !== null && xs[i] !== null) dropped++;
      }
    });
    const drawn = runs.flat();
    if (style === 'points') {
      this.busy.push(...drawn.flatMap(([u, v]) => [[u - 4, v], [u + 4, v]]));
      drawn.forEach(point => mark(group, slot, point));
      return dropped;
    }
    for (const run of runs.filter(run => run.length)) {
      if (run.length === 1) mark(group, slot, run[0]);
      const line = style === 'step' ? run.flatMap((p, i) => i ? [[p[0], run[i - 1][1]], p] : [p]) : run;
      if (this.data.references.length) this.busy = this.busy.concat(dense(line));
      shape(group, 'path', { class: style === 'dashed' ? 'line dashed' : 'line', d: path(line), style: `stroke:${ink(slot)}` });
    }
    const gap = (this.x.to - this.x.from) / 6;
    let next = this.x.from + gap * ((0.15 + 0.23 * n) % 1);
    for (const point of drawn) {
      if (point[0] < next) continue;
      mark(group, slot, point);
      while (next <= point[0]) next += gap;
    }
    return dropped;
  }

  /** Shows the values nearest to a place on the screen. */
  point(clientX) {
    const box = this.svg.getBoundingClientRect();
    const wished = (clientX - box.left) * (this.svg.viewBox.baseVal.width / box.width);
    const nearest = [];
    for (const series of this.visible()) {
      let best = -1, distance = Infinity;
      series.xs.forEach((v, i) => {
        const d = Math.abs(this.x.at(v) - wished);
        if (d < distance && Number.isFinite(this.y.at(series.y[i]))) [best, distance] = [i, d];
      });
      if (best >= 0) nearest.push({ series, i: best, distance, at: this.x.at(series.xs[best]) });
    }
    if (!nearest.length) return this.unpoint();
    const lead = nearest.reduce((a, b) => b.distance < a.distance ? b : a);
    this.at = lead.at;
    this.show(lead, nearest.filter(entry => Math.abs(entry.at - lead.at) < 14));
  }

  show(lead, entries) {
    const { x, y } = this;
    this.cursor.replaceChildren();
    shape(this.cursor, 'path', { class: 'cursor', d: `M${lead.at.toFixed(1)} ${y.to}V${y.from}` });
    entries.forEach(({ series, i, at }) => mark(this.cursor, series.slot, [at, y.at(series.y[i])], 5));
    const order = [...entries].sort((a, b) => y.at(a.series.y[a.i]) - y.at(b.series.y[b.i]));
    const row = ({ series, i }) => {
      const line = document.createElement('div');
      const dot = Object.assign(document.createElement('i'), { style: `background:${ink(series.slot)}` });
      const name = Object.assign(document.createElement('span'), { textContent: series.name });
      const value = Object.assign(document.createElement('b'), { textContent: shortNumber(series.y[i]) });
      line.append(dot, name, value);
      return line;
    };
    const axis = this.data.x[this.axis].label.map(([text]) => text).join('');
    const head = Object.assign(document.createElement('p'), { textContent: `${axis} ${shortNumber(lead.series.xs[lead.i])}` });
    this.tip.replaceChildren(head, ...order.map(row));
    this.tip.hidden = false;
    this.tip.setAttribute('role', 'status');
    const scale = this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width;
    const left = lead.at * scale;
    const flip = left > this.plot.clientWidth / 2;
    const room = this.plot.clientWidth - this.tip.offsetWidth;
    this.tip.style.left = `${Math.min(room, Math.max(0, flip ? left - this.tip.offsetWidth - 14 : left + 14))}px`;
    this.tip.style.top = `${(y.to + 6) * scale}px`;
  }

  unpoint() {
    this.at = null;
    this.tip.hidden = true;
    this.cursor?.replaceChildren();
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key === 'Escape') return this.unpoint();
    if (!(event.key in steps)) return;
    event.preventDefault();
    const box = this.svg.getBoundingClientRect();
    const scale = box.width / this.svg.viewBox.baseVal.width;
    const step = (this.x.to - this.x.from) / 40;
    const from = this.at ?? (steps[event.key] > 0 ? this.x.from - step : this.x.to + step);
    const wished = Math.min(this.x.to, Math.max(this.x.from, from + steps[event.key] * step));
    this.point(box.left + wished * scale);
    // Where points are further apart than a step, go on from where the step led.
    if (this.at !== null) this.at = wished;
  }

  save(kind) {
    const name = this.figure.id || 'chart';
    if (kind === 'csv') return saveFile(`${name}.csv`, 'text/csv', this.csv());
    saveFile(`${name}.svg`, 'image/svg+xml', this.standalone());
  }

  /** The points the page has, one a line. */
  csv() {
    const quote = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    const flat = spans => spans.map(([text, script]) => (script < 0 ? '_' : script > 0 ? '^' : '') + text).join('');
    const head = ['series', ...this.data.x.map(axis => flat(axis.label)), flat(this.data.y.label)];
    const rows = this.data.series.flatMap(s => s.y.map((v, i) => [s.name, ...s.x.map(xs => xs?.[i] ?? ''), v ?? '']));
    return [head, ...rows].map(row => row.map(v => quote(String(v))).join(',')).join('\n') + '\n';
  }

  /** The chart as it is shown now, with the colours and fonts of the page written out. */
  standalone() {
    const copy = this.svg.cloneNode(true);
    const [from, to] = [this.svg, copy].map(root => [root, ...root.querySelectorAll('*')]);
    from.forEach((element, i) => {
      const style = getComputedStyle(element);
      for (const key of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'paint-order', 'font-family']) to[i].style.setProperty(key, style.getPropertyValue(key));
    });
    copy.style.background = getComputedStyle(this.figure).backgroundColor;
    return new XMLSerializer().serializeToString(copy);
  }
}

