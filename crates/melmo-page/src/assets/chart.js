// Charts. Every drawing is there already (src/chart/view.rs): here one is chosen, series are hidden, values are read and saved.

const SVG = 'http://www.w3.org/2000/svg';

const ink = slot => `var(--s${slot % 8})`;

/** A value as people read it: 311.42, 1.23e-5. */
function shortNumber(value) {
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(3).replace('e+', 'e') : String(Number(value.toPrecision(5)));
  return text.replace(/^-/, '−');
}

/** An SVG element with attributes, appended to its parent. */
function shape(parent, name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
}

/** Where a drawing has a value along an axis, from what the drawing says of it; NaN for what has no place. */
function placed(text, scale) {
  const [low, high, from, to] = text.split(' ').map(Number);
  const warp = scale === 'log' ? Math.log10 : v => v;
  const at = v => v === null ? NaN : from + (warp(v) - warp(low)) / (warp(high) - warp(low)) * (to - from);
  return { from, to, at };
}

class Chart {
  constructor(figure) {
    this.figure = figure;
    this.data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    this.plot = figure.querySelector('.plot');
    const views = [this.plot.firstElementChild, ...figure.querySelector('template').content.children];
    this.views = new Map(views.map(view => [view.dataset.view, view]));
    this.axis = Number(views[0].dataset.view.split(' ')[0]);
    this.scales = this.data.x.map(axis => axis.scale);
    this.scale = this.data.y.scale;
    this.hidden = new Set();
    this.tip = Object.assign(document.createElement('div'), { className: 'tip', hidden: true });
    this.cursor = document.createElementNS(SVG, 'g');
    for (const svg of views.flatMap(view => [...view.querySelectorAll('[data-x] > svg')])) {
      svg.setAttribute('tabindex', 0);
      svg.setAttribute('aria-label', `${svg.getAttribute('aria-label')} Left and right arrow keys read values.`);
    }
    this.connect();
    this.show();
  }

  connect() {
    for (const box of this.figure.querySelectorAll('.controls, .exports')) box.hidden = false;
    for (const group of this.figure.querySelectorAll('[data-switch]')) {
      group.addEventListener('click', event => {
        const button = event.target.closest('button');
        if (button) this.choose(group.dataset.switch, button.dataset.value);
      });
    }
    for (const button of this.figure.querySelectorAll('.legend button')) {
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
    addEventListener('resize', () => this.unpoint());
  }

  choose(kind, value) {
    if (kind === 'axis') this.axis = Number(value);
    if (kind === 'x') this.scales[this.axis] = value;
    if (kind === 'y') this.scale = value;
    this.show();
  }

  toggle(n, alone) {
    const others = this.data.series.map((_, i) => i).filter(i => i !== n);
    if (alone) {
      const isAlone = !this.hidden.has(n) && others.every(i => this.hidden.has(i));
      this.hidden = new Set(isAlone ? [] : others);
    } else if (!this.hidden.delete(n)) {
      this.hidden.add(n);
    }
    this.show();
  }

  /** Shows the drawing that was asked for, without what is hidden. */
  show() {
    const state = { axis: String(this.axis), x: this.scales[this.axis], y: this.scale };
    this.unpoint();
    this.view = this.views.get(`${state.axis} ${state.x} ${state.y}`);
    this.plot.replaceChildren(this.view, this.tip);
    for (const group of this.view.querySelectorAll('.series')) group.toggleAttribute('hidden', this.hidden.has(Number(group.dataset.series)));
    for (const button of this.figure.querySelectorAll('[data-switch] button')) {
      button.setAttribute('aria-pressed', button.dataset.value === state[button.parentElement.dataset.switch]);
    }
    for (const button of this.figure.querySelectorAll('.legend button')) {
      button.setAttribute('aria-pressed', !this.hidden.has(Number(button.dataset.series)));
    }
  }

  /** The drawing that the page's width shows, and where its axes lie. */
  drawing() {
    const box = [...this.view.children].find(child => child.dataset.x && child.offsetWidth > 0);
    const svg = box.querySelector('svg');
    const size = svg.getBoundingClientRect();
    return {
      svg, left: size.left, scale: size.width / svg.viewBox.baseVal.width,
      x: placed(box.dataset.x, this.scales[this.axis]), y: placed(box.dataset.y, this.scale),
    };
  }

  /** Shows the values nearest to a place on the screen. */
  point(clientX) {
    const drawing = this.drawing();
    const { x, y } = drawing;
    const wished = (clientX - drawing.left) / drawing.scale;
    const nearest = [];
    for (const [n, { name, slot, x: all, y: values }] of this.data.series.entries()) {
      let best = null;
      (this.hidden.has(n) ? [] : all[this.axis] ?? []).forEach((v, i) => {
        const [at, height] = [x.at(v), y.at(values[i])];
        const distance = Math.abs(at - wished);
        if (Number.isFinite(height) && distance < (best?.distance ?? Infinity)) best = { name, slot, at, height, distance, x: v, y: values[i] };
      });
      if (best) nearest.push(best);
    }
    if (!nearest.length) return this.unpoint();
    const lead = nearest.reduce((a, b) => b.distance < a.distance ? b : a);
    this.at = lead.at;
    this.tell(drawing, lead, nearest.filter(entry => Math.abs(entry.at - lead.at) < 14));
  }

  tell({ svg, scale, y }, lead, entries) {
    this.cursor.replaceChildren();
    svg.append(this.cursor);
    shape(this.cursor, 'path', { class: 'cursor', d: `M${lead.at.toFixed(1)} ${y.to}V${y.from}` });
    for (const { slot, at, height } of entries) shape(this.cursor, 'circle', { cx: at, cy: height, r: 5, style: `fill:${ink(slot)}` });
    const row = ({ name, slot, y: value }) => {
      const line = document.createElement('div');
      line.append(
        Object.assign(document.createElement('i'), { style: `background:${ink(slot)}` }),
        Object.assign(document.createElement('span'), { textContent: name }),
        Object.assign(document.createElement('b'), { textContent: shortNumber(value) }),
      );
      return line;
    };
    const head = Object.assign(document.createElement('p'), { textContent: `${this.data.x[this.axis].label} ${shortNumber(lead.x)}` });
    this.tip.replaceChildren(head, ...entries.sort((a, b) => a.height - b.height).map(row));
    this.tip.hidden = false;
    this.tip.setAttribute('role', 'status');
    const left = lead.at * scale;
    const flip = left > this.plot.clientWidth / 2;
    const room = this.plot.clientWidth - this.tip.offsetWidth;
    this.tip.style.left = `${Math.min(room, Math.max(0, flip ? left - this.tip.offsetWidth - 14 : left + 14))}px`;
    this.tip.style.top = `${(y.to + 6) * scale}px`;
  }

  unpoint() {
    this.at = null;
    this.tip.hidden = true;
    this.cursor.remove();
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key === 'Escape') return this.unpoint();
    if (!(event.key in steps)) return;
    event.preventDefault();
    const { x, left, scale } = this.drawing();
    const step = (x.to - x.from) / 40;
    const from = this.at ?? (steps[event.key] > 0 ? x.from - step : x.to + step);
    const wished = Math.min(x.to, Math.max(x.from, from + steps[event.key] * step));
    this.point(left + wished * scale);
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
    const head = ['series', ...this.data.x.map(axis => axis.label), this.data.y.label];
    const rows = this.data.series.flatMap(s => s.y.map((v, i) => [s.name, ...s.x.map(xs => xs?.[i] ?? ''), v ?? '']));
    return [head, ...rows].map(row => row.map(v => quote(String(v))).join(',')).join('\n') + '\n';
  }

  /** The chart as it is shown now, with the colours and fonts of the page written out. */
  standalone() {
    this.unpoint();
    const { svg } = this.drawing();
    const copy = svg.cloneNode(true);
    const [from, to] = [svg, copy].map(root => [root, ...root.querySelectorAll('*')]);
    from.forEach((element, i) => {
      const style = getComputedStyle(element);
      for (const key of ['display', 'fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'paint-order', 'font-family']) to[i].style.setProperty(key, style.getPropertyValue(key));
    });
    copy.style.background = getComputedStyle(this.figure).backgroundColor;
    return new XMLSerializer().serializeToString(copy);
  }
}
