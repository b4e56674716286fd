"use strict";
// The Gantt chart: bars on canvas, drawn for what is in view only; by node (each node has as many lanes as pods that
// it ran at once) or by job (a row each, its wait a thin line before its bar).
class Gantt {
  // `bars`: {count, row[], since[], until[], job[]}, in each row sorted and without overlap; `waits`: from when each
  // bar waited, or null. `rows`: {count, label(row), title(row)}.
  constructor(holder, view, options) {
    this.holder = holder;
    this.view = view;
    this.options = options;
    this.gutter = options.gutter;
    this.highlighted = -1;
    this.drawn = 0;
    this.pending = 0;
    holder.classList.add("gantt");
    this.scroll = Gantt.make(holder, "div", "gantt-scroll");
    this.scroll.tabIndex = 0;
    this.scroll.setAttribute("role", "img");
    this.stage = Gantt.make(this.scroll, "div", "gantt-stage");
    this.canvas = Gantt.make(this.stage, "canvas");
    this.over = Gantt.make(this.stage, "canvas");
    this.spacer = Gantt.make(this.scroll, "div", "gantt-spacer");
    this.axis = Gantt.make(holder, "canvas", "gantt-axis");
    this.band = Gantt.make(holder, "div", "gantt-select");
    this.band.hidden = true;
    this.tip = Gantt.make(document.body, "div", "tip");
    this.tip.hidden = true;
    this.scroll.addEventListener("scroll", () => this.redraw());
    this.listen();
    new ResizeObserver(() => this.layout()).observe(holder);
  }

  static make(parent, tag, name) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    parent.append(made);
    return made;
  }

  show(rows, bars, label) {
    this.rows = rows;
    this.bars = bars;
    this.first = Gantt.index(bars.row, rows.count, bars.count);
    this.highlighted = -1;
    this.tip.hidden = true;
    this.scroll.scrollTop = 0;
    this.scroll.setAttribute("aria-label", label);
    this.layout();
  }

  static packed(row, since, until, job, waits) {
    return {
      count: row.length, row: Int32Array.from(row), since: Float64Array.from(since), until: Float64Array.from(until),
      job: Int32Array.from(job), waits,
    };
  }

  // Rows and bars by node, each with as many lanes as it ran pods at once. `started`, `finished`: of jobs.
  static byNode(data, started, finished) {
    const { job, node, own } = data.bars;
    const n = job.length;
    const since = Float64Array.from(job, (j) => started[j]), until = Float64Array.from(job, (j) => finished[j]);
    for (const [bar, from, to] of own) { since[bar] = from; until[bar] = to === null ? data.end : to; }
    const perNode = data.nodes.map(() => []);
    for (let i = 0; i < n; i++) if (!Number.isNaN(since[i])) perNode[node[i]].push(i);
    const lanesOf = [], nodeOf = [], rows = [], sinces = [], untils = [], of = [];
    let lanes = 0;
    perNode.forEach((bars, number) => {
      bars.sort((a, b) => since[a] - since[b] || until[a] - until[b]);
      const ends = [], inLane = [];
      for (const bar of bars) { // the first lane that is free
        let lane = ends.findIndex((date) => date <= since[bar]);
        if (lane < 0) { lane = ends.length; inLane.push([]); }
        ends[lane] = until[bar];
        inLane[lane].push(bar);
      }
      const wide = Math.max(1, inLane.length);
      lanesOf.push([lanes, lanes + wide]);
      for (let lane = 0; lane < wide; lane++) {
        nodeOf.push(number);
        for (const bar of inLane[lane] || []) { rows.push(lanes + lane); sinces.push(since[bar]); untils.push(until[bar]); of.push(job[bar]); }
      }
      lanes += wide;
    });
    return {
      bars: Gantt.packed(rows, sinces, untils, of, null),
      rows: {
        count: lanes, down: data.down, lanes: (number) => lanesOf[number], span: (r) => lanesOf[nodeOf[r]],
        label: (r) => (lanesOf[nodeOf[r]][0] === r ? data.nodes[nodeOf[r]] : null), title: (r) => data.nodes[nodeOf[r]],
      },
    };
  }

  // Where the bars of each row begin: bars are sorted by row.
  static index(row, rows, count) {
    const first = new Int32Array(rows + 1);
    for (let i = 0; i < count; i++) first[row[i] + 1]++;
    for (let r = 0; r < rows; r++) first[r + 1] += first[r];
    return first;
  }

  layout() {
    if (!this.rows) return;
    const width = this.holder.clientWidth;
    if (!width) return;
    const { minimum, maximum, height } = this.options.sizes(this.rows.count);
    this.rowHeight = Math.min(maximum, Math.max(minimum, height / this.rows.count));
    const total = Math.max(1, this.rowHeight * this.rows.count);
    this.height = Math.round(Math.min(Math.max(total, 48), height));
    this.spacer.style.height = total + "px";
    this.scroll.style.height = this.height + "px";
    this.width = this.scroll.clientWidth; // without the scroll bar
    for (const canvas of [this.canvas, this.over]) this.fit(canvas, this.width, this.height);
    this.fit(this.axis, this.width, 34);
    this.draw();
  }

  fit(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  get plot() { return Math.max(10, this.width - this.gutter - this.options.right); }
  x(time) { return this.gutter + ((time - this.view.min) / (this.view.max - this.view.min)) * this.plot; }
  time(x) { return this.view.min + ((x - this.gutter) / this.plot) * (this.view.max - this.view.min); }

  redraw() {
    if (!this.pending) this.pending = requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (this.pending) cancelAnimationFrame(this.pending);
    this.pending = 0;
    if (!this.rows || !this.width) return;
    const { bars, rowHeight, width, height } = this;
    const context = this.canvas.getContext("2d");
    const { min, max } = this.view;
    const scale = this.plot / (max - min), left = this.gutter, right = left + this.plot;
    const top = this.scroll.scrollTop;
    const firstRow = Math.max(0, Math.floor(top / rowHeight));
    const lastRow = Math.min(this.rows.count - 1, Math.floor((top + height) / rowHeight));
    const gap = rowHeight >= 5 ? 1 : rowHeight >= 3 ? 0.5 : 0;
    const tall = Math.max(1, rowHeight - gap);
    context.clearRect(0, 0, width, height);
    this.grid(context, height);
    context.save();
    context.beginPath();
    context.rect(left, 0, this.plot, height);
    context.clip();
    const palette = this.options.palette(), colors = this.options.colorOf();
    const rects = palette.map(() => []);
    const lines = [];
    let drawn = 0, lined = -1;
    const line = (job, until, y) => { // rows thinner than a pixel have one line a pixel
      if (rowHeight < 1 && Math.floor(y) === lined) return;
      lined = Math.floor(y);
      lines.push(bars.waits[job], until, y);
    };
    for (let row = firstRow; row <= lastRow; row++) {
      const end = this.first[row + 1];
      let i = this.after(row, min);
      const y = row * rowHeight - top;
      let painted = -1;
      for (; i < end; i++) {
        const since = bars.since[i];
        if (since > max) {
          if (bars.waits && bars.waits[bars.job[i]] < max) line(bars.job[i], since, y);
          break;
        }
        drawn++;
        if (bars.waits && bars.waits[bars.job[i]] < since) line(bars.job[i], since, y);
        const x0 = Math.max(left, left + (since - min) * scale), x1 = Math.min(right, left + (bars.until[i] - min) * scale);
        if (x1 < painted) continue; // narrower than what is there
        const wide = x1 - x0, shown = Math.max(wide > 3 ? wide - 0.7 : wide, 0.8);
        painted = x0 + shown;
        rects[colors[bars.job[i]]].push(x0, y, shown);
      }
    }
    for (const [node, since, until] of this.rows.down || []) {
      context.fillStyle = Format.color("--bad-soft");
      const [begin, after] = this.rows.lanes(node);
      const x0 = left + (since - min) * scale;
      context.fillRect(x0, begin * rowHeight - top, Math.max(1, (until - since) * scale), (after - begin) * rowHeight);
    }
    if (lines.length) {
      context.fillStyle = Format.color("--muted");
      context.globalAlpha = 0.5;
      const thin = Math.min(1, tall), middle = rowHeight < 3 ? 0 : tall / 2 - 0.5;
      for (let k = 0; k < lines.length; k += 3) {
        const x0 = left + (lines[k] - min) * scale;
        context.fillRect(x0, lines[k + 2] + middle, (lines[k + 1] - lines[k]) * scale, thin);
      }
      context.globalAlpha = 1;
    }
    rects.forEach((found, index) => {
      context.fillStyle = palette[index];
      for (let k = 0; k < found.length; k += 3) context.fillRect(found[k], found[k + 1] + gap / 2, found[k + 2], tall);
    });
    context.restore();
    this.labels(context, firstRow, lastRow, top);
    this.marks();
    this.drawn = drawn;
    this.holder.dataset.drawn = String(drawn);
    this.holder.dataset.bars = String(bars.count);
    const all = this.rows.count * rowHeight <= height + 1;
    this.options.shown(all ? "" : `rows ${(firstRow + 1).toLocaleString("en")} to ${(lastRow + 1).toLocaleString("en")} of ${this.rows.count.toLocaleString("en")}: scroll, or fit them`);
    this.highlight(this.highlighted);
  }

  // The first bar of a row that ends after a date.
  after(row, date) {
    let low = this.first[row], high = this.first[row + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.bars.until[middle] < date) low = middle + 1; else high = middle;
    }
    return low;
  }

  ticks() {
    const range = this.view.max - this.view.min;
    const step = Format.stepFor(range, Math.max(2, Math.floor(this.plot / 86)));
    const found = [];
    for (let n = Math.ceil(this.view.min / step - 1e-9); n * step <= this.view.max + step * 1e-9; n++) found.push(n * step);
    return { step, found };
  }

  grid(context, height) {
    context.fillStyle = Format.color("--grid");
    for (const time of this.ticks().found) context.fillRect(Math.round(this.x(time)), 0, 1, height);
  }

  marks() {
    const context = this.axis.getContext("2d");
    context.clearRect(0, 0, this.width, 34);
    context.fillStyle = Format.color("--muted");
    context.font = `12px ${Format.color("--sans")}`;
    context.textBaseline = "top";
    context.textAlign = "center";
    const { step, found } = this.ticks();
    for (const time of found) context.fillText(Format.tick(time, step), this.x(time), 3);
    context.fillText(`simulated time (${Format.unitOf(step)})`, this.gutter + this.plot / 2, 19);
  }

  labels(context, firstRow, lastRow, top) {
    context.fillStyle = Format.color("--muted");
    context.font = `12px ${Format.color("--sans")}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    let free = -100;
    for (let row = firstRow; row <= lastRow; row++) {
      const label = this.rows.label(row);
      if (label === null) continue;
      const [begin, after] = this.rows.span(row);
      const y = Math.min(this.height - 7, Math.max(7, ((begin + after) / 2) * this.rowHeight - top));
      if (y - free < 13.5) continue;
      free = y;
      context.fillText(this.shortened(context, label), this.gutter - 8, y);
    }
  }

  shortened(context, text) {
    const room = this.gutter - 12;
    if (context.measureText(text).width <= room) return text;
    let kept = text.length - 1;
    while (kept > 1 && context.measureText("…" + text.slice(-kept)).width > room) kept--;
    return "…" + text.slice(-kept); // names differ at their ends
  }

  highlight(job) {
    this.highlighted = job;
    const context = this.over.getContext("2d");
    context.clearRect(0, 0, this.width, this.height);
    if (job < 0) return;
    context.strokeStyle = Format.color("--text");
    context.lineWidth = 1.5;
    const top = this.scroll.scrollTop;
    for (const i of this.ofJob(job)) {
      const x0 = Math.max(this.gutter, this.x(this.bars.since[i])), x1 = Math.min(this.gutter + this.plot, this.x(this.bars.until[i]));
      const y = this.bars.row[i] * this.rowHeight - top;
      if (x1 < this.gutter || y > this.height || y + this.rowHeight < 0) continue;
      context.strokeRect(x0 - 0.5, y - 0.5, Math.max(2, x1 - x0) + 0.5, Math.max(2, this.rowHeight));
    }
  }

  ofJob(job) {
    if (this.byJob?.bars !== this.bars) {
      const found = new Map();
      for (let i = 0; i < this.bars.count; i++) {
        const own = found.get(this.bars.job[i]);
        if (own) own.push(i); else found.set(this.bars.job[i], [i]);
      }
      this.byJob = { bars: this.bars, found };
    }
    return this.byJob.found.get(job) || [];
  }

  at(x, y) {
    if (x < this.gutter || x > this.gutter + this.plot) return -1;
    const time = this.time(x), slack = (this.view.max - this.view.min) / this.plot * 2;
    const middle = Math.floor((y + this.scroll.scrollTop) / this.rowHeight);
    const reach = Math.ceil(2 / this.rowHeight);
    for (let far = 0; far <= (this.rowHeight < 3 ? reach : 0); far++) {
      for (const row of far ? [middle - far, middle + far] : [middle]) {
        if (row < 0 || row >= this.rows.count) continue;
        const i = this.after(row, time - slack);
        if (i < this.first[row + 1] && (this.bars.since[i] <= time + slack || (this.bars.waits && this.bars.waits[this.bars.job[i]] <= time))) return i;
      }
    }
    return -1;
  }

  point(event) {
    const box = this.scroll.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  listen() {
    const scroll = this.scroll;
    let from = null, panned = null;
    scroll.addEventListener("pointerdown", (event) => {
      const { x, y } = this.point(event);
      if (event.button !== 0 || x > this.width) return;
      if (event.pointerType === "touch") panned = { x, min: this.view.min, max: this.view.max };
      else { from = x; scroll.setPointerCapture(event.pointerId); }
      this.hover(x, y, event);
    });
    scroll.addEventListener("pointermove", (event) => {
      const { x, y } = this.point(event);
      if (panned) {
        const moved = ((x - panned.x) / this.plot) * (panned.max - panned.min);
        if (Math.abs(x - panned.x) > 6) this.view.set(panned.min - moved, panned.max - moved);
      } else if (from !== null && Math.abs(x - from) > 4) {
        const [a, b] = [Math.max(this.gutter, Math.min(from, x)), Math.min(this.gutter + this.plot, Math.max(from, x))];
        Object.assign(this.band.style, { left: a + "px", width: Math.max(0, b - a) + "px" });
        this.band.hidden = false;
        this.leave();
      } else this.hover(x, y, event);
    });
    const up = (event) => {
      const { x } = this.point(event);
      if (from !== null && !this.band.hidden) {
        const [a, b] = [this.time(Math.min(from, x)), this.time(Math.max(from, x))];
        this.view.set(a, b);
      }
      from = panned = null;
      this.band.hidden = true;
    };
    scroll.addEventListener("pointerup", up);
    scroll.addEventListener("pointercancel", () => { from = panned = null; this.band.hidden = true; });
    scroll.addEventListener("pointerleave", () => this.leave());
    scroll.addEventListener("dblclick", () => this.view.reset());
    scroll.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        this.view.zoom(Math.exp(event.deltaY * 0.004), this.time(this.point(event).x));
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        this.view.move((event.deltaX / this.plot) * (this.view.max - this.view.min));
      }
    }, { passive: false });
    scroll.addEventListener("keydown", (event) => {
      const range = this.view.max - this.view.min;
      const acts = { "+": () => this.view.zoom(0.6), "=": () => this.view.zoom(0.6), "-": () => this.view.zoom(1 / 0.6),
        "0": () => this.view.reset(), ArrowLeft: () => this.view.move(-range / 8), ArrowRight: () => this.view.move(range / 8) };
      if (!acts[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      acts[event.key]();
    });
  }

  hover(x, y, event) {
    const i = this.at(x, y);
    if (i < 0) return this.leave();
    const job = this.bars.job[i];
    if (job !== this.highlighted) this.highlight(job);
    this.tip.replaceChildren(...this.options.describe(job, this.rows.title(this.bars.row[i])));
    this.tip.hidden = false;
    const box = this.tip.getBoundingClientRect();
    const beside = event.clientX + 16 + box.width > window.innerWidth ? event.clientX - 16 - box.width : event.clientX + 16;
    this.tip.style.left = Math.max(4, beside) + "px";
    this.tip.style.top = Math.max(4, Math.min(event.clientY + 16, window.innerHeight - box.height - 8)) + "px";
  }

  leave() {
    this.tip.hidden = true;
    if (this.highlighted >= 0) this.highlight(-1);
  }
}
