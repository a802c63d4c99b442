// Draws the views of explorer/chart.py for any choice of the reader; nothing is fetched, all data stand in the page.
(() => {
"use strict";
const data = JSON.parse(document.getElementById("explorer-data").textContent);
const root = document.getElementById("explorer");
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 500, HEIGHT = 290, LEFT = 74, RIGHT = 10, TOP = 10, BOTTOM = 42, LABEL = 34, ROW = 26;
const BEYOND = 2;         // by this factor beyond the values an axis shows their intervals
const MOST_MARKED = 40;   // points of a line with marks; a longer line shows its course
const NAMES = {campaign: "Campaign", system: "System", library: "Library", placement: "Placement", variant: "Variant",
               algorithm: "Algorithm"};
const SERIES = ["operation", ...data.dimensions, "ranks", "origin", "streams", "sizes", "time", "low", "high", "repeats"];

const byOperation = new Map();
for (const row of data.series) {
  const series = Object.fromEntries(SERIES.map((name, i) => [name, row[i]]));
  series.sizes = data.sizes[series.sizes];
  if (!byOperation.has(series.operation)) byOperation.set(series.operation, []);
  byOperation.get(series.operation).push(series);
}
const cellsOf = new Map();
data.cells.operation.forEach((operation, i) => {
  if (!cellsOf.has(operation)) cellsOf.set(operation, []);
  cellsOf.get(operation).push(i);
});
// A choice has numbers of words, as the data have.
const number = (name, word) => data.words[name].indexOf(word);
const firsts = new Map(data.first.map(one => {
  const held = Object.fromEntries(data.dimensions.map(name => [name, number(name, one.held[name])]));
  return [number("operation", one.operation), {...one, held, operation: number("operation", one.operation)}];
}));
let choice = copy(firsts.values().next().value);
const hidden = new Set();
const leading = new Map(Object.entries(data.leading).map(([operation, names]) => [Number(operation), new Set(names)]));
// The others are grey: there are more algorithms than a reader can keep apart.
const isNamed = (name, i) => name !== "algorithm" || leading.get(choice.operation).has(i) || (choice.by === name && i === choice.held[name]);
const keyOf = label => `${choice.by} ${isNamed(choice.by, label) ? label : "others"}`;

function copy(one) { return {...one, held: {...one.held}}; }

// Numbers and units -----------------------------------------------------------------------------------------------
// Words as those of hockney/units.py, which the rest of the page has.
const digits = (value, n = 3) => String(Number(value.toPrecision(n)));
function scaled(value, steps) {
  const [unit, scale] = steps.find(([, scale]) => value >= 0.9995 * scale) || steps.at(-1);
  return `${value < 999.5 * scale ? digits(value / scale) : (value / scale).toFixed(0)} ${unit}`;
}
const time = us => us > 0 && us < 9.995e-3 ? `${digits(us * 1e3)} ns` : scaled(us, [["s", 1e6], ["ms", 1e3], ["µs", 1]]);
const rate = B_per_s => scaled(B_per_s, [["GB/s", 1e9], ["MB/s", 1e6], ["kB/s", 1e3], ["B/s", 1]]);
function size(B) {
  for (const [unit, scale] of [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
    if (B >= scale && B % (scale / 4) === 0) return `${B / scale} ${unit}`;
  return `${B} B`;
}
const UNITS = {time: {as: time, title: "time"}, rate: {as: rate, title: "size / time"}};
const ranksIn = n => n ? `${n} ranks` : "ranks unknown";

// What a figure shows: `chart` of chart.py ----------------------------------------------------------------------
const isAt = (name, value) => value === choice.held[name] || data.words[name][value] === data.only;
function isHeld(of, but) {
  return data.dimensions.every(name => name === but || !(name in of) || isAt(name, of[name]));
}
// Both maps show the same cells.
let lastHeld = {key: null, cells: []};
const mapKey = () => JSON.stringify([choice.operation, {...choice.held, algorithm: null}]);
function cellsHeld() {
  const key = mapKey(), columns = data.cells;
  if (key === lastHeld.key) return lastHeld.cells;
  const told = data.dimensions.filter(name => name !== "algorithm").map(name => [columns[name], name]);
  const cells = (cellsOf.get(choice.operation) || []).filter(i => told.every(([column, name]) => isAt(name, column[i])))
    .map(i => ({bytes: columns.bytes[i], ranks: columns.ranks[i], best: columns.best[i], best_us: columns.best_us[i],
                ties: columns.ties[i], penalty: columns.penalty[i], is_default: columns.is_default[i]}));
  lastHeld = {key, cells};
  return cells;
}
function chart(view) {
  if (view.kind === "map") return {view, lines: [], cells: cellsHeld()};
  const lines = new Map();
  for (const one of byOperation.get(choice.operation)) {
    if (!isHeld(one, choice.by) || (view.x === "bytes" && one.ranks !== choice.ranks)) continue;
    const label = one[choice.by];
    if (!lines.has(label)) lines.set(label, {label, points: []});
    const into = lines.get(label).points;
    const take = i => {
      const repeats = Array.isArray(one.repeats) ? one.repeats[i] : one.repeats;
      const low = one.low ? one.low[i] : null, high = one.high ? one.high[i] : null;
      const asRate = us => us === null ? null : one.streams * one.sizes[i] / us * 1e6;
      const isTime = view.y === "time";
      const y = isTime ? one.time[i] : asRate(one.time[i]);
      if (y > 0) into.push({x: view.x === "bytes" ? one.sizes[i] : one.ranks, y, low: isTime ? low : asRate(high),
                            high: isTime ? high : asRate(low), bytes: one.sizes[i], ranks: one.ranks, repeats,
                            origin: one.origin});
    };
    if (view.x === "bytes") one.sizes.forEach((_, i) => take(i));
    else { const i = one.sizes.indexOf(choice.bytes); if (i >= 0) take(i); }
  }
  const sorted = [...lines.values()].filter(line => line.points.length);
  for (const line of sorted) line.points.sort((a, b) => a.x - b.x);
  const words = data.words[choice.by];
  sorted.sort((a, b) => words[a.label] < words[b.label] ? -1 : 1);
  return {view, lines: sorted, cells: []};
}

// Elements --------------------------------------------------------------------------------------------------------
function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
function markPath(kind, x, y, r = 3) {
  const a = r + 1;
  switch (kind) {
    case "o": return `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`;
    case "s": return `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case "^": return `M${x},${y - a}L${x + a},${y + r}H${x - a}z`;
    case "v": return `M${x},${y + a}L${x + a},${y - r}H${x - a}z`;
    case "<": return `M${x - a},${y}L${x + r},${y - a}V${y + a}z`;
    case ">": return `M${x + a},${y}L${x - r},${y - a}V${y + a}z`;
    case "D": return `M${x},${y - a}L${x + a},${y}L${x},${y + a}L${x - a},${y}z`;
    case "h": return `M${x - a},${y}l2,${-r}h4l2,${r}l-2,${r}h-4z`;
    case "P": return `M${x - 1},${y - a}h2v${r}h${r}v2h${-r}v${r}h-2v${-r}h${-r}v-2h${r}z`;
    default: return `M${x - r},${y - r}L${x + r},${y + r}M${x + r},${y - r}L${x - r},${y + r}`;
  }
}

// A word keeps its style in every panel and choice, and in the figures for print.
const nameOf = line => data.words[choice.by][line.label];
function style(name, i) {
  const [colour, dashes, mark] = data.styles[name][i];
  if (!isNamed(name, i)) return {colour: "others", dash: "", mark, letter: ""};
  return {colour, dash: dashes.map(d => d * 1.5).join(" "), mark};
}

// What an axis has to hold: the values, and of their intervals what is near to these.
function inReach(points) {
  const values = points.map(p => p.y).filter(y => y > 0), least = Math.min(...values) / BEYOND, most = Math.max(...values) * BEYOND;
  return [...values, ...points.flatMap(p => [p.low, p.high]).filter(y => y > 0).map(y => Math.min(most, Math.max(least, y)))];
}

// Panels ----------------------------------------------------------------------------------------------------------
const tip = html("div", {class: "tip", hidden: "", "aria-hidden": "true"});
const readout = html("p", {class: "readout", role: "status"});

class Panel {
  constructor(view) {
    this.view = view;
    this.zoom = null;
    this.height = HEIGHT;
    this.title = html("h3", {}, view.title);
    this.reset = html("button", {type: "button", class: "reset", hidden: ""}, "show all");
    this.reset.addEventListener("click", () => { this.zoom = null; this.draw(); this.box.focus(); });
    this.svg = svg("svg", {"aria-hidden": "true"});
    this.box = html("div", {class: "plot", tabindex: "0", role: "group", "aria-roledescription": "chart"}, this.svg);
    this.key = html("p", {class: "key note"});
    this.element = html("div", {class: "panel", id: `panel-${view.name}`},
                        html("div", {class: "head"}, this.title, this.reset), this.box, this.key);
    this.box.addEventListener("keydown", event => this.pressed(event));
    this.box.addEventListener("focus", () => this.show(this.cursor || this.marks[0], true));
    this.box.addEventListener("blur", () => this.leave());
    this.svg.addEventListener("pointermove", event => this.moved(event));
    this.svg.addEventListener("pointerleave", () => { if (!this.drag) this.leave(); });
    this.svg.addEventListener("pointerdown", event => { this.drag = this.at(event); this.svg.setPointerCapture(event.pointerId); });
    this.svg.addEventListener("pointerup", event => this.released(event));
    this.svg.addEventListener("dblclick", () => { this.zoom = null; this.draw(); });
  }

  at(event) {
    const box = this.svg.getBoundingClientRect();
    return {x: (event.clientX - box.left) / box.width * WIDTH, y: (event.clientY - box.top) / box.height * this.height};
  }

  // Positions: sizes and ranks of lines on binary logarithms, 0 B one step left; those of a map in equal steps.
  draw() {
    const isMap = this.view.kind === "map";
    const drawn = isMap && mapKey() + JSON.stringify(this.zoom);
    if (drawn && drawn === this.drawn) return this.markHere(); // a map has all sizes and ranks
    this.drawn = null;
    this.chart = chart(this.view);
    this.marks = [];
    this.cursor = null;
    this.svg.replaceChildren();
    // A row of ranks is as high in a map of one as of eight.
    this.height = isMap ? TOP + BOTTOM + Math.min(HEIGHT - TOP - BOTTOM, ROW * new Set(this.chart.cells.map(cell => cell.ranks)).size) : HEIGHT;
    this.svg.setAttribute("viewBox", `0 0 ${WIDTH} ${this.height}`);
    this.lines = this.chart.lines.filter(line => !hidden.has(keyOf(line.label)));
    const points = isMap ? this.chart.cells : this.lines.flatMap(line => line.points);
    // No figure of what this operation has none of: algorithms to choose from, numbers of ranks to grow over, or bytes.
    const series = byOperation.get(choice.operation);
    this.element.hidden = isMap ? !(cellsOf.get(choice.operation) || []).length
      : this.view.x === "ranks" ? new Set(series.map(one => one.ranks)).size < 2
      : this.view.y === "rate" && !series.some(one => one.sizes.some(B => B > 0));
    this.reset.hidden = !this.zoom;
    this.key.textContent = "";
    const words = [data.words.operation[choice.operation],
      ...(isMap ? [] : [this.view.x === "bytes" ? ranksIn(choice.ranks) : size(choice.bytes)]),
      ...data.dimensions.filter(name => (isMap ? name !== "algorithm" : name !== choice.by))
        .map(name => data.words[name][choice.held[name]]).filter(word => word !== data.only)];
    const title = `${this.view.title}: ${words.filter(Boolean).join(", ")}`;
    this.title.textContent = title;
    this.box.setAttribute("aria-label", `${title}. Arrow keys go from value to value.`);
    if (!points.length) {
      const why = this.chart.lines.length ? "all lines are hidden" : "nothing was measured for this choice";
      this.svg.append(svg("text", {x: WIDTH / 2, y: this.height / 2, "text-anchor": "middle"}, why));
      return;
    }
    if (isMap) this.drawMap(); else this.drawLines(points);
    this.drawn = drawn;
    this.pointer = svg("g", {class: "pointer"});
    this.band = svg("rect", {class: "band", y: TOP, height: this.height - TOP - BOTTOM, width: 0});
    this.svg.append(this.pointer, this.band);
  }

  axes(x, y, xTitle, yTitle) {
    const g = svg("g", {class: "axes"});
    for (const [at, text] of x) {
      g.append(svg("path", {class: "grid", d: `M${at},${TOP}V${this.height - BOTTOM}`}));
      g.append(svg("text", {x: at, y: this.height - BOTTOM + 14, "text-anchor": "middle"}, text));
    }
    for (const [at, text] of y) {
      g.append(svg("path", {class: "grid", d: `M${LEFT},${at}H${WIDTH - RIGHT}`}));
      g.append(svg("text", {x: LEFT - 5, y: at + 4, "text-anchor": "end"}, text));
    }
    g.append(svg("text", {x: (LEFT + WIDTH - RIGHT) / 2, y: this.height - 8, "text-anchor": "middle", class: "title"}, xTitle));
    g.append(svg("text", {transform: `translate(11,${(TOP + this.height - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle", class: "title"}, yTitle));
    this.svg.append(g);
  }

  drawLines(points) {
    const positive = points.map(p => p.x).filter(x => x > 0);
    const least = positive.length ? Math.min(...positive) : 1;
    const position = x => x > 0 ? Math.log2(x) : Math.log2(least) - 1;
    const xs = points.map(p => position(p.x));
    const ys = inReach(points).map(Math.log10);
    const span = (values, pad) => { const a = Math.min(...values), b = Math.max(...values), d = Math.max((b - a) * pad, 0.05); return [a - d, b + d]; };
    this.full = {x: span(xs, 0.03), y: span(ys, 0.05)};
    const [x0, x1] = (this.zoom || this.full).x, [y0, y1] = (this.zoom || this.full).y;
    const toX = v => LEFT + (v - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
    const toY = v => this.height - BOTTOM - (v - y0) / (y1 - y0) * (this.height - TOP - BOTTOM);
    this.range = {x: [x0, x1], y: [y0, y1]};
    const isSize = this.view.x === "bytes", {as, title} = UNITS[this.view.y];
    const step = [1, 2, 3, 4, 5, 6].find(s => (x1 - x0) / s <= 7) || 8;
    const xTicks = [];
    for (let e = Math.ceil(x0); e <= x1; e++)
      if (e >= Math.log2(least) - 1e-9 && e % step === 0) xTicks.push([toX(e), isSize ? size(2 ** e) : String(2 ** e)]);
    if (isSize && points.some(p => p.x === 0)) {
      const zero = toX(position(0));
      if (xTicks.length && xTicks[0][0] - zero < LABEL) xTicks.shift(); // the two would lie on each other
      xTicks.unshift([zero, "0 B"]);
    }
    const yTicks = [], subs = y1 - y0 > 2.5 ? [1] : y1 - y0 > 0.8 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
    for (let e = Math.floor(y0); e <= y1; e++) for (const sub of subs) {
      const value = sub * 10 ** e, at = Math.log10(value);
      if (at >= y0 && at <= y1) yTicks.push([toY(at), as(value)]);
    }
    this.axes(xTicks.filter(([at]) => at >= LEFT - 1 && at <= WIDTH - RIGHT + 1), yTicks, isSize ? "message size" : "ranks", title);
    const chosen = position(isSize ? choice.bytes : choice.ranks);
    // An inner drawing cuts off what a zoom leaves outside.
    const frame = {x: LEFT - 4, y: TOP - 4, width: WIDTH - LEFT - RIGHT + 8, height: this.height - TOP - BOTTOM + 8};
    const inside = svg("svg", {...frame, viewBox: Object.values(frame).join(" ")});
    inside.append(svg("path", {class: "chosen", d: `M${toX(chosen)},${TOP}V${this.height - BOTTOM}`}));
    for (const line of this.lines) {
      const look = style(choice.by, line.label);
      const at = line.points.map(p => [toX(position(p.x)), toY(Math.log10(p.y))]);
      const joined = at.filter((_, i) => line.points[i].x > 0);
      const r = v => Math.round(v * 10) / 10;
      const group = svg("g", {class: `line c-${look.colour}`, "data-label": nameOf(line),
                              "data-x": line.points.map(p => p.x).join(), "data-y": line.points.map(p => p.y).join(),
                              "data-at": at.map(([x, y]) => `${r(x)} ${r(y)}`).join()});
      if (joined.length > 1)
        group.append(svg("path", {d: "M" + joined.map(([x, y]) => `${r(x)},${r(y)}`).join("L"), "stroke-dasharray": look.dash}));
      let bars = "";
      line.points.forEach((p, i) => {
        if (p.low > 0 && p.high > p.low) bars += `M${r(at[i][0])},${r(toY(Math.log10(p.low)))}V${r(toY(Math.log10(p.high)))}`;
      });
      const isGrey = look.colour === "others"; // the course alone
      if (bars && !isGrey) group.append(svg("path", {class: "bars", d: bars}));
      if (!isGrey && (line.points.length <= MOST_MARKED || this.zoom) || line.points.length === 1)
        group.append(svg("path", {class: "marks", d: at.map(([x, y]) => markPath(look.mark, r(x), r(y))).join("")}));
      inside.append(group);
      line.points.forEach((p, i) => this.marks.push({x: at[i][0], y: at[i][1], line: line.label, of: line, point: p}));
    }
    this.svg.append(inside);
    const cut = this.lines.filter(line => style(choice.by, line.label).colour !== "others").flatMap(line => line.points)
      .filter(p => p.low > 0 && (Math.log10(p.low) < y0 || Math.log10(p.high) > y1));
    if (cut.length && !this.zoom) {
      const widest = cut.reduce((a, b) => b.high / b.low > a.high / a.low ? b : a);
      this.key.textContent = `${cut.length} ${cut.length > 1 ? "intervals leave" : "interval leaves"} the frame, at most ${as(widest.low)} … ${as(widest.high)} at ${isSize ? size(widest.bytes) : ranksIn(widest.ranks)}.`;
    }
  }

  drawMap() {
    const cells = this.chart.cells;
    const unique = name => [...new Set(cells.map(c => c[name]))].sort((a, b) => a - b);
    let sizes = unique("bytes"), ranks = unique("ranks");
    this.full = {x: [0, sizes.length], y: [0, ranks.length]};
    const [x0, x1] = (this.zoom || this.full).x.map(Math.round), [y0, y1] = (this.zoom || this.full).y.map(Math.round);
    this.range = {x: [x0, x1], y: [y0, y1]};
    sizes = sizes.slice(x0, x1); ranks = ranks.slice(y0, y1);
    const w = (WIDTH - LEFT - RIGHT) / sizes.length, h = (this.height - TOP - BOTTOM) / ranks.length;
    const ofSize = new Map(sizes.map((s, i) => [s, i])), ofRanks = new Map(ranks.map((n, i) => [n, i]));
    const isPenalty = this.view.y === "penalty";
    const letters = svg("g", {class: "letters"}), hasLetters = h >= 11 && w >= (isPenalty ? 20 : 11);
    const nameOf = new Map(), colour = cell => {
      if (isPenalty) return cell.penalty === null ? "none" : `p-${data.penalties.filter(end => cell.penalty > end + 1e-9).length}`;
      if (!nameOf.has(cell.best)) nameOf.set(cell.best, `c-${style("algorithm", cell.best).colour}`);
      return nameOf.get(cell.best);
    };
    // Letters in the order of the key, which names each.
    const fastest = [...new Set(cells.map(cell => cell.best))].sort((a, b) => a - b), own = fastest.filter(i => isNamed("algorithm", i));
    const letterOf = i => own.includes(i) ? String.fromCharCode(65 + own.indexOf(i)) : "";
    const rows = ranks.map(() => []);
    for (const cell of cells) {
      const i = ofSize.get(cell.bytes), j = ofRanks.get(cell.ranks);
      if (i === undefined || j === undefined) continue;
      const x = LEFT + i * w, y = this.height - BOTTOM - (j + 1) * h, name = colour(cell);
      rows[j][i] = name;
      this.marks.push({x: x + w / 2, y: y + h / 2, i, j, w, h, cell});
      if (!hasLetters) continue;
      const text = isPenalty ? (cell.penalty === null ? "" : digits(cell.penalty, 2)) : letterOf(cell.best);
      letters.append(svg("text", {x: x + w / 2, y: y + h / 2 + 3.5, "text-anchor": "middle", class: `on-${name}`}, text));
    }
    // Neighbours of one colour are one rectangle: thousands of cells take long to paint.
    const paths = new Map();
    rows.forEach((names, j) => {
      for (let i = 0, end; i < names.length; i = end) {
        for (end = i + 1; end < names.length && names[end] === names[i]; end++);
        if (names[i] === undefined) continue;
        const x = LEFT + i * w, y = this.height - BOTTOM - (j + 1) * h, wide = (end - i) * w + 0.15;
        if (!paths.has(names[i])) paths.set(names[i], []);
        paths.get(names[i]).push(`M${x.toFixed(1)},${y.toFixed(1)}h${wide.toFixed(2)}v${(h + 0.15).toFixed(2)}h${(-wide).toFixed(2)}z`);
      }
    });
    const some = (n, most, least) => Math.max(1, Math.ceil(n / most), Math.ceil(least / ((WIDTH - LEFT) / n)));
    const xStep = some(sizes.length, 7, 0), yStep = Math.max(1, Math.ceil(ranks.length / 12));
    this.axes(sizes.map((s, i) => [LEFT + (i + 0.5) * w, size(s)]).filter((_, i) => i % xStep === 0),
              ranks.map((n, j) => [this.height - BOTTOM - (j + 0.5) * h, String(n)]).filter((_, j) => j % yStep === 0),
              "message size", "ranks");
    for (const [name, d] of paths) if (name !== "none") this.svg.append(svg("path", {class: `cell ${name}`, d: d.join("")}));
    this.svg.append(letters);
    this.here = svg("rect", {class: "here"});
    this.svg.append(this.here);
    this.markHere();
    const key = isPenalty
      ? data.penalties.map((end, i) => [`p-${i}`, i ? `up to × ${end}` : "as fast"]).concat([[`p-${data.penalties.length}`, `over × ${data.penalties.at(-1)}`]])
      : own.map(i => [`c-${style("algorithm", i).colour}`, `${letterOf(i)} ${data.words.algorithm[i]}`])
          .concat(own.length < fastest.length ? [["c-others", `${fastest.length - own.length} others`]] : []);
    this.key.replaceChildren(...key.map(([name, text]) => html("span", {}, html("i", {class: `swatch ${name}`}), text)));
  }

  // The chosen size and number of ranks.
  markHere() {
    const at = this.marks.find(mark => mark.cell.bytes === choice.bytes && mark.cell.ranks === choice.ranks);
    const place = at ? [at.x - at.w / 2, at.y - at.h / 2, at.w, Math.max(at.h, 3)] : [0, 0, 0, 0];
    ["x", "y", "width", "height"].forEach((name, i) => this.here.setAttribute(name, place[i]));
    this.here.style.display = at ? "" : "none";
  }

  said(mark) {
    if (mark.cell) {
      const c = mark.cell;
      const tied = c.ties ? `, and ${c.ties} more as fast` : "";
      const of = c.penalty === null ? "the default was not measured" : c.is_default ? "it is the default" : c.penalty > 1 ? `the default takes × ${digits(c.penalty)} of that` : "the default is as fast";
      return [`${data.words.algorithm[c.best]}: ${time(c.best_us)}`, `${size(c.bytes)}, ${ranksIn(c.ranks)}${tied}; ${of}`];
    }
    const p = mark.point, {as} = UNITS[this.view.y];
    const interval = p.low === null ? "no interval" : `${as(p.low)} … ${as(p.high)} (${p.repeats ? `range of ${p.repeats} values` : "95 % interval"})`;
    return [`${nameOf(mark.of) || "measured"}: ${as(p.y)}`, `${interval}; ${size(p.bytes)}, ${ranksIn(p.ranks)}`, `from ${data.words.origin[p.origin]}`];
  }

  show(mark, isSpoken) {
    if (!mark || !this.pointer) return;
    this.cursor = mark;
    const r = mark.cell ? svg("rect", {x: mark.x - mark.w / 2, y: mark.y - mark.h / 2, width: mark.w, height: Math.max(mark.h, 3)})
                        : svg("circle", {cx: mark.x, cy: mark.y, r: 6});
    this.pointer.replaceChildren(r);
    const lines = this.said(mark);
    tip.replaceChildren(html("strong", {}, lines[0]), ...lines.slice(1).map(line => html("span", {}, line)));
    tip.hidden = false;
    const box = this.svg.getBoundingClientRect(), outer = root.getBoundingClientRect();
    const left = box.left - outer.left + mark.x / WIDTH * box.width;
    const top = box.top - outer.top + mark.y / this.height * box.height;
    tip.style.left = `${Math.max(0, Math.min(left + 14, outer.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${top + 16}px`;
    if (isSpoken) readout.textContent = lines.join("; ");
  }

  leave() { tip.hidden = true; if (this.pointer) this.pointer.replaceChildren(); if (this.band) this.band.setAttribute("width", 0); }

  nearest(at) {
    let best = null, least = Infinity;
    for (const mark of this.marks) {
      const d = mark.cell ? Math.max(Math.abs(mark.x - at.x) / mark.w, Math.abs(mark.y - at.y) / mark.h)
                          : Math.hypot(mark.x - at.x, mark.y - at.y);
      if (d < least) { least = d; best = mark; }
    }
    return best && least <= (best.cell ? 0.51 : 60) ? best : null;
  }

  moved(event) {
    const at = this.at(event);
    if (this.drag && Math.abs(at.x - this.drag.x) > 6) {
      const x = Math.min(at.x, this.drag.x);
      this.band.setAttribute("x", x);
      this.band.setAttribute("width", Math.abs(at.x - this.drag.x));
      return;
    }
    const mark = this.nearest(at);
    if (mark) this.show(mark, false); else this.leave();
  }

  released(event) {
    const at = this.at(event), from = this.drag;
    this.drag = null;
    if (!from || !this.range) return;
    if (Math.abs(at.x - from.x) > 6) {
      const share = x => Math.min(1, Math.max(0, (x - LEFT) / (WIDTH - LEFT - RIGHT)));
      const [x0, x1] = this.range.x, [a, b] = [share(from.x), share(at.x)].sort((p, q) => p - q);
      this.zoomTo([x0 + a * (x1 - x0), x0 + b * (x1 - x0)]);
    } else {
      const mark = this.nearest(at);
      if (mark) this.choose(mark);
    }
  }

  // The other axis follows what is left in sight.
  zoomTo([x0, x1]) {
    const isMap = this.view.kind === "map";
    if (isMap) { x0 = Math.floor(x0); x1 = Math.ceil(x1); }
    if (x1 - x0 < (isMap ? 1 : 0.2)) return;
    this.zoom = {x: [x0, x1], y: this.full.y};
    if (!isMap) {
      const least = Math.min(...this.lines.flatMap(l => l.points.map(p => p.x)).filter(x => x > 0));
      const ys = inReach(this.lines.flatMap(l => l.points).filter(p => { const at = p.x > 0 ? Math.log2(p.x) : Math.log2(least) - 1; return at >= x0 && at <= x1; }))
        .map(Math.log10);
      if (ys.length) { const a = Math.min(...ys), b = Math.max(...ys), d = Math.max((b - a) * 0.05, 0.02); this.zoom.y = [a - d, b + d]; }
    }
    this.draw();
  }

  choose(mark) {
    const from = mark.cell || mark.point;
    const next = copy(choice);
    next.bytes = from.bytes; next.ranks = from.ranks;
    if (!mark.cell) next.held[choice.by] = mark.line;
    follow(next);
  }

  pressed(event) {
    const at = this.cursor || this.marks[0];
    if (!at) return;
    const move = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (move) this.show(this.towards(at, move) || at, true);
    else if (event.key === "Enter" || event.key === " ") { const i = this.marks.indexOf(at); this.choose(at); this.show(this.marks[i] || this.marks[0], true); }
    else if (event.key === "+" || event.key === "-") {
      const [x0, x1] = this.range.x, part = event.key === "+" ? 0.5 : 2;
      const centre = x0 + (at.x - LEFT) / (WIDTH - LEFT - RIGHT) * (x1 - x0), half = (x1 - x0) * part / 2;
      const [f0, f1] = this.full.x;
      if (2 * half >= f1 - f0) { this.zoom = null; this.draw(); } else this.zoomTo([Math.max(f0, centre - half), Math.min(f1, centre + half)]);
      this.show(this.nearest({x: (LEFT + WIDTH - RIGHT) / 2, y: at.y}) || this.marks[0], true);
    } else if (event.key === "0" || event.key === "Escape") { this.zoom = null; this.draw(); this.show(this.marks[0], true); }
    else return;
    event.preventDefault();
  }

  // The neighbour: along the line or row, or, up and down, the nearest of another line in this place.
  towards(from, [dx, dy]) {
    let best = null, least = Infinity;
    for (const mark of this.marks) {
      const x = mark.x - from.x, y = mark.y - from.y;
      const isThere = dx ? Math.sign(Math.round(x * 10)) === dx && (mark.cell ? mark.j === from.j : mark.line === from.line)
        : Math.sign(Math.round(y * 10)) === dy && (mark.cell ? mark.i === from.i : mark.line !== from.line && Math.abs(x) < 4);
      const d = Math.abs(x) + Math.abs(y);
      if (isThere && d < least) { least = d; best = mark; }
    }
    return best;
  }
}

// The chooser -----------------------------------------------------------------------------------------------------
const panels = data.views.map(view => new Panel(view));
const chooser = html("form", {class: "chooser", "aria-label": "What is shown"});
chooser.addEventListener("submit", event => event.preventDefault());
const legend = html("div", {class: "legend", role: "group", "aria-label": "Lines; press one to hide it"});
const table = html("table");
const values = html("details", {}, html("summary", {}, "The values shown, as a table"),
                    html("div", {class: "box", tabindex: "0", role: "region", "aria-label": "The values shown"}, table));
const selects = {};
function control(name, title, change) {
  const select = html("select", {id: `choose-${name}`});
  select.addEventListener("change", () => change(select.value));
  selects[name] = {select, label: html("label", {for: `choose-${name}`}, title, select)};
  chooser.append(selects[name].label);
}
function changed(set) { return value => { const next = copy(choice); set(next, value); follow(next); }; }
control("operation", "Operation", value => follow({...copy(firsts.get(Number(value)))}));
control("by", "Compare", changed((next, value) => { next.by = value; }));
for (const name of data.dimensions) control(name, NAMES[name], changed((next, value) => { next.held[name] = Number(value); }));
control("bytes", "Size", changed((next, value) => { next.bytes = Number(value); }));
control("ranks", "Ranks", changed((next, value) => { next.ranks = Number(value); }));
const again = html("button", {type: "button"}, "Start again");
again.addEventListener("click", () => { hidden.clear(); for (const panel of panels) panel.zoom = null; follow(copy(firsts.values().next().value)); });
chooser.append(again);

function fill(name, options, chosen, isShown) {
  const {select, label} = selects[name];
  const signature = JSON.stringify(options);
  if (select.dataset.options !== signature) {
    select.replaceChildren(...options.map(([value, text]) => html("option", {value}, text)));
    select.dataset.options = signature;
  }
  select.value = String(chosen);
  label.hidden = !isShown;
}
const nearestTo = (values, wanted) => values.reduce((best, v) => Math.abs(Math.log((v + 1) / (wanted + 1))) < Math.abs(Math.log((best + 1) / (wanted + 1))) ? v : best, values[0]);

// All panels follow a choice; ranks and sizes that it does not have become the nearest that it has.
function follow(next) {
  const isNew = next.operation !== choice.operation || next.by !== choice.by;
  choice = next;
  const all = byOperation.get(choice.operation);
  const present = Object.fromEntries(data.dimensions.map(name => [name, [...new Set(all.map(one => one[name]))]
    .filter((value, _, every) => every.length === 1 || name === choice.by || data.words[name][value] !== data.only)
    .sort((a, b) => data.words[name][a] < data.words[name][b] ? -1 : 1)]));
  for (const name of data.dimensions) if (!present[name].includes(choice.held[name])) choice.held[name] = present[name][0];
  const several = data.dimensions.filter(name => present[name].length > 1);
  if (!several.includes(choice.by) && several.length) choice.by = several.includes("algorithm") ? "algorithm" : several[0];
  const there = all.filter(one => isHeld(one, choice.by));
  const among = there.length ? there : all;
  const ranks = [...new Set(among.map(one => one.ranks))].sort((a, b) => a - b);
  choice.ranks = nearestTo(ranks, choice.ranks);
  const sizes = [...new Set(among.filter(one => one.ranks === choice.ranks).flatMap(one => one.sizes))].sort((a, b) => a - b);
  choice.bytes = nearestTo(sizes, choice.bytes);
  fill("operation", [...byOperation.keys()].map(i => [i, data.words.operation[i]]), choice.operation, byOperation.size > 1);
  fill("by", several.map(name => [name, NAMES[name].toLowerCase() + "s"].map(w => w.replace("librarys", "libraries"))), choice.by, several.length > 1);
  for (const name of data.dimensions)
    fill(name, present[name].map(i => [i, data.words[name][i] || "none"]), choice.held[name], several.includes(name) && name !== choice.by);
  fill("bytes", sizes.map(s => [s, size(s)]), choice.bytes, sizes.length > 1);
  fill("ranks", ranks.map(n => [n, n || "unknown"]), choice.ranks, ranks.length > 1);
  if (isNew) for (const panel of panels) panel.zoom = null;
  for (const panel of panels) panel.draw();
  drawLegend(present);
  if (values.open) drawTable();
}

function drawLegend(present) {
  const shown = new Set(panels.flatMap(panel => panel.chart.lines.map(line => line.label)));
  const all = present[choice.by].filter(i => shown.has(i)), own = all.filter(i => isNamed(choice.by, i));
  const entries = own.map(i => [data.words[choice.by][i], style(choice.by, i), keyOf(i)]);
  const other = all.find(i => !own.includes(i));
  if (other !== undefined) entries.push([`${all.length - own.length} others`, style(choice.by, other), keyOf(other)]);
  legend.replaceChildren(...entries.map(([word, look, key]) => {
    const sample = svg("svg", {viewBox: "0 0 34 12", width: 34, height: 12, "aria-hidden": "true", class: `line c-${look.colour}`},
      svg("path", {d: "M1,6H33", "stroke-dasharray": look.dash}), svg("path", {class: "marks", d: look.colour === "others" ? "" : markPath(look.mark, 17, 6)}));
    const button = html("button", {type: "button", title: "Press to hide or show it.", "aria-pressed": String(!hidden.has(key))}, sample, word || "measured");
    button.addEventListener("click", () => {
      if (hidden.has(key)) hidden.delete(key); else hidden.add(key);
      button.setAttribute("aria-pressed", String(!hidden.has(key)));
      for (const panel of panels) if (panel.view.kind === "lines") panel.draw();
      if (values.open) drawTable();
    });
    return button;
  }));
}

function drawTable() {
  const panel = panels.find(one => one.view.name === "time-against-size");
  const rows = panel.lines.flatMap(line => line.points.map(point => ({line, point})));
  const head = html("tr", {}, ...[NAMES[choice.by], "size", "ranks", "time", "interval or range", "from"].map((t, i) => html("th", {scope: "col", class: i === 0 || i === 5 ? "text" : ""}, t)));
  table.replaceChildren(html("caption", {}, panel.title.textContent), html("thead", {}, head), html("tbody", {}, ...rows.map(({line, point}) => html("tr", {},
    html("th", {scope: "row", class: "text"}, data.words[choice.by][line.label] || "measured"),
    ...[size(point.bytes), point.ranks || "unknown", time(point.y), point.low === null ? "—" : `${time(point.low)} … ${time(point.high)}`].map(t => html("td", {}, String(t))),
    html("td", {class: "text"}, data.words.origin[point.origin])))));
}
values.addEventListener("toggle", () => { if (values.open) drawTable(); });

root.append(chooser, legend, html("div", {class: "panels"}, ...panels.map(panel => panel.element)), readout, values, tip);
root.hidden = false;
// What the explorer shows, too, and may stand below it.
document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("details.drawn").forEach(each => { each.open = false; }));
follow(choice);
performance.mark("explored");

// The figures of the page, which follow, lead to the same numbers here.
document.addEventListener("DOMContentLoaded", () => {
  for (const figure of document.querySelectorAll("figure[data-choice]")) {
    const wanted = JSON.parse(figure.dataset.choice);
    const button = html("button", {type: "button", class: "explore"}, "explore");
    button.setAttribute("aria-label", `explore: ${figure.querySelector("figcaption strong").textContent}`);
    button.addEventListener("click", () => {
      const operation = number("operation", wanted.operation);
      const next = copy(firsts.get(operation));
      next.ranks = wanted.ranks ?? next.ranks;
      next.bytes = wanted.bytes ?? next.bytes;
      for (const [name, word] of Object.entries(wanted.held || {})) if (number(name, word) >= 0) next.held[name] = number(name, word);
      follow(next);
      root.scrollIntoView();
      selects.operation.label.hidden ? panels[2].box.focus({preventScroll: true}) : selects.operation.select.focus({preventScroll: true});
    });
    figure.querySelector("figcaption").append(button);
  }
  document.querySelector("nav a").after(html("a", {href: "#explorer"}, "Explore"));
});
})();
