// Axes: where a value lies, where an axis is marked and with what. The same rules as src/chart/axis.rs and ticks.rs.

/** An axis laid out: `low` lies at `from`, `high` at `to`; values without a place give NaN. */
function placeAxis(log, values, range, pad, from, to) {
  const warp = log ? Math.log10 : v => v;
  const unwarp = log ? v => 10 ** v : v => v;
  const shows = v => v !== null && Number.isFinite(v) && (!log || v > 0);
  let low = Infinity, high = -Infinity;
  for (const v of values) if (shows(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  if (low > high) [low, high] = log ? [1, 10] : [0, 1];
  let a = warp(low), b = warp(high);
  const least = log ? 0.2 : 0.2 * Math.max(Math.abs(a), 1e-12);
  const margin = b - a > 1e-9 * Math.max(Math.abs(a), Math.abs(b)) ? pad * (b - a) : least;
  [a, b] = [a - margin, b + margin];
  if (range && shows(range[0]) && shows(range[1]) && range[0] < range[1]) [a, b] = range.map(warp);
  return {
    log, from, to, low: unwarp(a), high: unwarp(b),
    at: v => v === null ? NaN : from + (warp(v) - a) / (b - a) * (to - from),
    value: share => unwarp(a + share * (b - a)),
  };
}

/** About `room` labelled marks, as {value, label}; a minor mark has no label. A label is a list of [text, script]. */
function ticks(axis, room) {
  room = Math.max(2, Math.floor(room));
  const decades = Math.log10(axis.high / axis.low);
  const all = axis.log && decades >= 0.8 ? logTicks(axis, decades, room) : linearTicks(axis, room);
  const [first, last] = [Math.min(axis.from, axis.to) - 1e-6, Math.max(axis.from, axis.to) + 1e-6];
  return all.filter(tick => axis.at(tick.value) >= first && axis.at(tick.value) <= last);
}

function linearTicks({ low, high }, room) {
  const raw = (high - low) / room;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw * 0.999);
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= high / step + 1e-9; i++) {
    out.push({ value: i * step, label: plainLabel(i * step, step, largest) });
  }
  return out;
}

function logTicks({ low, high }, decades, room) {
  const stride = Math.max(1, Math.ceil(decades / room));
  const labelled = 3 * decades <= room + 1 ? [1, 2, 5] : [1];
  const short = Math.log10(low) >= -3.01 && Math.log10(high) <= 5.51;
  const out = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    for (let m = 1; m < 10; m++) {
      const label = labelled.includes(m) && e % stride === 0 ? powerLabel(m, e, short) : null;
      if (label || stride === 1 || m === 1) out.push({ value: m * 10 ** e, label });
    }
  }
  return out;
}

const minus = text => String(text).replace('-', '−');
const grouped = text => {
  const [whole, fraction] = text.split('.');
  const parted = whole.replace('-', '').length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') : whole;
  return fraction === undefined ? parted : `${parted}.${fraction}`;
};

function powerLabel(m, e, short) {
  if (short) return [[grouped((m * 10 ** e).toFixed(Math.max(0, -e))), 0]];
  return [[m === 1 ? '10' : `${m}·10`, 0], [minus(e), 1]];
}

function plainLabel(value, step, largest) {
  if (value === 0) return [['0', 0]];
  const exponent = Math.floor(Math.log10(largest));
  const unit = exponent >= -3 && exponent < 6 ? 0 : exponent;
  const decimals = Math.min(15, Math.max(0, Math.ceil(unit - Math.log10(step) - 1e-9)));
  const text = (value / 10 ** unit).toFixed(decimals);
  return unit === 0 ? [[minus(grouped(text)), 0]] : [[`${minus(Number(text))}·10`, 0], [minus(unit), 1]];
}

/** A value under the pointer: 311.42, 1.23e-5. */
function shortNumber(value) {
  if (value === null || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(3).replace('e+', 'e') : String(Number(value.toPrecision(5)));
  return minus(text.replace(/e-/, 'e\u0001')).replace('\u0001', '-');
}

