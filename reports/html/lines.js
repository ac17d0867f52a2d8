// ---- Hot lines and the capacity map: of whole trials, known on the model ----
const trials = JSON.parse(byId('trials').textContent);
const selectedTrials = () => trials.filter(({row}) =>
  Object.entries(view.chosen).every(([name, value]) => name === 'phase' || rows[row][name] === value));
const lineKinds = () => ({
  true_sharing: ['true sharing', '#d55e00'], false_sharing: ['false sharing', '#e69f00'],
  lock_word: ['lock word', '#cc79a7'], capacity: ['capacity', blue()],
});
const whyNoTrials = () => (trials.length === 0 || trials.every(({ways}) => ways === 0)
  ? 'Only the model knows the lines' : 'No transaction aborted over a line');

function tellInstead(id, text) {
  const canvas = byId(id);
  charts.get(id)?.destroy();
  charts.delete(id);
  canvas.parentElement.querySelector('p')?.remove();
  canvas.hidden = text !== null;
  if (text !== null) canvas.parentElement.append(element('p', {textContent: text}));
}

// The lines of all selected trials, those of one object together, worst first.
function hotLines() {
  const lines = new Map();
  const kinds = Object.keys(lineKinds());
  for (const trial of selectedTrials()) {
    for (const line of trial.lines) {
      const known = lines.get(line.object) ?? {object: line.object, total: 0, uses: line.uses, kind: line.kind};
      for (const kind of kinds) {
        known[kind] = (known[kind] ?? 0) + line[kind];
        known.total += line[kind];
      }
      lines.set(line.object, known);
    }
  }
  return [...lines.values()].sort((a, b) => b.total - a.total).slice(0, 10);
}

const shortened = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

function drawHotLines() {
  const worst = hotLines();
  const lines = selectedTrials().flatMap((trial) => trial.lines);
  const all = Object.keys(lineKinds()).reduce((total, kind) => total + sum(lines, kind), 0);
  if (worst.length === 0) {
    tellInstead('hot-lines', whyNoTrials());
    return;
  }
  tellInstead('hot-lines', null);
  const grid = {color: style('--line')};
  const ticks = {color: style('--quiet')};
  const narrow = byId('hot-lines').parentElement.clientWidth < 450;
  charts.set('hot-lines', new Chart(byId('hot-lines'), {
    type: 'bar',
    data: {
      labels: worst.map(({object}) => shortened(object, narrow ? 16 : 32)),
      datasets: Object.entries(lineKinds())
        .filter(([kind]) => worst.some((line) => line[kind] > 0))
        .map(([kind, [label, colour]]) => ({label, backgroundColor: colour, maxBarThickness: 40, data: worst.map((line) => line[kind])})),
    },
    options: {
      indexAxis: 'y', responsive: true, maintainAspectRatio: false, animation: false,
      interaction: {mode: 'index', axis: 'y', intersect: false},
      scales: {
        x: {stacked: true, grid, ticks: {...ticks, callback: shortNumber, maxRotation: 0}, title: axisTitle('aborts'), beginAtZero: true},
        y: {stacked: true, grid, ticks: {...ticks, autoSkip: false}, title: axisTitle('object')},
      },
      plugins: {
        legend: {labels: {color: style('--ink'), usePointStyle: true, boxHeight: 7}},
        tooltip: {callbacks: {
          title: ([item]) => worst[item.dataIndex].object,
          footer: ([item]) => {
            const {total, kind, uses} = worst[item.dataIndex];
            return [`${percentOf(total / all)} of the aborts over lines; ${kind}`, uses.replaceAll('; ', '\n')];
          },
        }},
      },
    },
  }));
}

// ---- The capacity map: how often each way of each set of L1 lost a line of a transaction ----
const capacity = {sets: 0, ways: 0, counts: [], highest: 0};

function countOverflows() {
  const some = selectedTrials();
  capacity.sets = Math.max(0, ...some.map(({sets}) => sets));
  capacity.ways = Math.max(0, ...some.map(({ways}) => ways));
  capacity.counts = Array(capacity.sets * capacity.ways).fill(0);
  for (const {overflows} of some) {
    for (const [set, way, count] of overflows) capacity.counts[set * capacity.ways + way] += count;
  }
  capacity.highest = Math.max(0, ...capacity.counts);
}

const mapMargins = {left: 44, top: 34, right: 8, bottom: 40};
function mapGeometry(canvas) {
  const width = canvas.clientWidth - mapMargins.left - mapMargins.right;
  const height = canvas.clientHeight - mapMargins.top - mapMargins.bottom;
  return {cell: width / capacity.sets, row: height / capacity.ways, width, height};
}

// From the colour of the card to that of capacity, so that an empty place is not drawn.
function paintMap() {
  const canvas = byId('capacity-map');
  if (canvas.hidden || capacity.highest === 0) return;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const ctx = canvas.getContext('2d');
  ctx.scale(ratio, ratio);
  const {cell, row, width, height} = mapGeometry(canvas);
  const {left, top} = mapMargins;
  const gap = cell > 5 ? 1 : 0.25;
  const shade = (share) => {
    ctx.globalAlpha = 0.15 + 0.85 * share;
    ctx.fillStyle = blue();
  };
  for (let set = 0; set < capacity.sets; ++set) {
    for (let way = 0; way < capacity.ways; ++way) {
      const count = capacity.counts[set * capacity.ways + way];
      if (count === 0) {
        ctx.globalAlpha = 1;
        ctx.fillStyle = style('--head');
      } else {
        shade(count / capacity.highest);
      }
      ctx.fillRect(left + set * cell, top + way * row, cell - gap, row - gap);
    }
  }
  ctx.globalAlpha = 1;
  ctx.font = '12px system-ui, "Liberation Sans", sans-serif';
  ctx.fillStyle = style('--quiet');
  ctx.textAlign = 'center';
  ctx.textBaseline = 'top';
  const step = 2 ** Math.ceil(Math.log2(Math.max(1, 28 / cell)));
  for (let set = 0; set < capacity.sets; set += step) {
    ctx.fillText(set, left + (set + 0.5) * cell, top + height + 4);
  }
  ctx.fillText('set of L1', left + width / 2, top + height + 22);
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  for (let way = 0; way < capacity.ways; ++way) ctx.fillText(way, left - 6, top + (way + 0.5) * row);
  ctx.save();
  ctx.translate(12, top + height / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = 'center';
  ctx.fillText('way', 0, 0);
  ctx.restore();
  // The scale.
  ctx.textAlign = 'left';
  ctx.fillText('1', left, 14);
  for (let i = 0; i < 40; ++i) {
    shade(i / 39);
    ctx.fillRect(left + 14 + i * 2, 8, 2, 12);
  }
  ctx.globalAlpha = 1;
  ctx.fillStyle = style('--quiet');
  ctx.fillText(`${shortNumber(capacity.highest)} aborts`, left + 100, 14);
}

function drawCapacityMap() {
  countOverflows();
  const known = selectedTrials().some(({ways}) => ways > 0);
  tellInstead('capacity-map', !known ? 'Only the model knows the places'
    : capacity.highest === 0 ? 'No transaction lost a line from L1' : null);
  paintMap();
}

byId('capacity-map').onmousemove = (event) => {
  const canvas = byId('capacity-map');
  const {cell, row} = mapGeometry(canvas);
  const set = Math.floor((event.offsetX - mapMargins.left) / cell);
  const way = Math.floor((event.offsetY - mapMargins.top) / row);
  const inside = set >= 0 && set < capacity.sets && way >= 0 && way < capacity.ways;
  canvas.title = inside ? `set ${set}, way ${way}: ${capacity.counts[set * capacity.ways + way]} aborts` : '';
};
new ResizeObserver(paintMap).observe(byId('capacity-map').parentElement);
