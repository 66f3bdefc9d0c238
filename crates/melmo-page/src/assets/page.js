// The page: theme, contents, copying, sliders, charts.

const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

function saveFile(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages opened as files may not have the clipboard.
    const area = Object.assign(document.createElement('textarea'), { value: text, className: 'unseen' });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

function connectTheme() {
  const button = document.querySelector('.theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const dark = () => (root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const show = () => {
    button.textContent = dark() ? '☀' : '☾';
    button.setAttribute('aria-label', dark() ? 'Switch to light colours' : 'Switch to dark colours');
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    root.dataset.theme = dark() ? 'light' : 'dark';
    try { localStorage.setItem('melmo-theme', root.dataset.theme); } catch { /* private mode: for this visit only */ }
    show();
  });
  system.addEventListener('change', show);
  show();
}

function connectContents() {
  const details = document.querySelector('nav details');
  if (!details) return;
  const wide = matchMedia('(min-width: 1100px)');
  const fold = () => { details.open = wide.matches; };
  wide.addEventListener('change', fold);
  fold();
  details.addEventListener('click', event => { if (event.target.closest('a') && !wide.matches) details.open = false; });
  const links = new Map(all('nav a').map(link => [link.getAttribute('href').slice(1), link]));
  const headings = all('main h2, main h3');
  const mark = () => {
    const here = headings.findLast(heading => heading.getBoundingClientRect().top < innerHeight * 0.3) ?? headings[0];
    links.forEach((link, id) => id === here?.id ? link.setAttribute('aria-current', 'true') : link.removeAttribute('aria-current'));
    if (wide.matches) links.get(here?.id)?.scrollIntoView({ block: 'nearest' });
  };
  let waiting = false;
  addEventListener('scroll', () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();
}

function connectCopies() {
  for (const box of all('.copies')) box.hidden = false;
  for (const button of all('[data-copy]')) {
    button.hidden = false;
    const name = button.textContent;
    button.addEventListener('click', async () => {
      await copyText(button.dataset.copy);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = name; }, 1200);
    });
  }
}

function connectSliders() {
  for (const stage of all('.pair .stage')) {
    const slider = stage.querySelector('input');
    const move = () => stage.style.setProperty('--cut', `${slider.value}%`);
    slider.hidden = false;
    slider.addEventListener('input', move);
    move();
  }
}

function connectCharts() {
  for (const figure of all('figure.chart')) {
    // One broken chart keeps its picture and leaves the others alone.
    try { figure.chart = new Chart(figure); } catch (error) { console.error(figure.id, error); }
  }
}

connectTheme();
connectContents();
connectCopies();
connectSliders();
connectCharts();
