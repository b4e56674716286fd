"use strict";
// The page of a run: its data into charts.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { jobs, states } = data;
  const count = jobs.name.length;
  const find = (id) => document.getElementById(id);
  const started = Float64Array.from(jobs.started, (time) => (time === null ? NaN : time));
  const finished = Float64Array.from(jobs.finished, (time, i) => (time === null ? (Number.isNaN(started[i]) ? NaN : data.end) : time));
  const submitted = Float64Array.from(jobs.submitted);
  const end = data.end > 0 ? data.end : 1;
  const narrow = window.innerWidth < 640;
  const gutter = narrow ? 58 : 84;
  const RIGHT = 28;

  // The span of time that all charts over time show.
  const view = timeView(end);

  // Bars ------------------------------------------------------------------------------------------------------------

  function byJob() {
    const row = [], since = [], until = [], job = [];
    for (let i = 0; i < count; i++) {
      if (Number.isNaN(started[i])) continue;
      row.push(i); since.push(started[i]); until.push(finished[i]); job.push(i);
    }
    return {
      bars: packed(row, since, until, job, submitted),
      rows: { count, label: (r) => jobs.name[r], span: (r) => [r, r + 1], title: () => null },
    };
  }

  const byNode = () => Gantt.byNode(data, started, finished);
  const packed = Gantt.packed;

  // Colours ---------------------------------------------------------------------------------------------------------

  const SERIES = ["--s0", "--s1", "--s2", "--s3", "--s4", "--s5", "--s6", "--s7"];
  const OF_STATE = { succeeded: "--s0", failed: "--bad", "walltime reached": "--s4", killed: "--s3", rejected: "--s7", running: "--s2", waiting: "--s7" };
  const SIZES = [1, 4, 16, 64, Infinity], SIZE_NAMES = ["1 core", "2–4", "5–16", "17–64", "65 or more"];
  const WAITS = [60, 600, 3600, 21600, Infinity], WAIT_NAMES = ["below 1 min", "below 10 min", "below 1 h", "below 6 h", "longer"];
  const WAIT_COLORS = ["--s5", "--s0", "--s4", "--s1", "--s6"];
  const classOf = (limits, value) => limits.findIndex((limit) => value <= limit);
  const named = (column, names) => ({ of: (j) => Math.min(7, jobs[column][j]), names: names.length > 8 ? [...names.slice(0, 7), "others"] : names, colors: SERIES });
  const COLORS = {
    end: { of: (j) => jobs.state[j], names: states, colors: states.map((state) => OF_STATE[state]), used: true },
    wait: { of: (j) => classOf(WAITS, started[j] - submitted[j]), names: WAIT_NAMES, colors: WAIT_COLORS },
    size: { of: (j) => classOf(SIZES, jobs.cores[j]), names: SIZE_NAMES, colors: WAIT_COLORS },
    user: named("user", data.users), queue: named("queue", data.queues), priority: named("priority", data.priorities),
  };
  let coloring = COLORS.end, colors = null;

  function colorBy(name) {
    coloring = COLORS[name];
    colors = Uint8Array.from({ length: count }, (_, job) => Math.max(0, coloring.of(job)));
  }
  colorBy("end");

  function showLegend() {
    const there = new Set();
    for (let j = 0; j < count; j++) if (!Number.isNaN(started[j])) there.add(colors[j]);
    find("legend").replaceChildren(...coloring.names.flatMap((name, index) => {
      if (!there.has(index)) return [];
      const item = document.createElement("span"), swatch = document.createElement("i");
      swatch.className = "swatch";
      swatch.style.background = `var(${coloring.colors[index]})`;
      item.append(swatch, name || "(none)");
      return [item];
    }));
  }

  function describe(job, place) {
    const heading = document.createElement("b"), list = document.createElement("dl");
    heading.textContent = jobs.name[job];
    const facts = [
      ["on", place], ["submitted", Format.duration(submitted[job])],
      ["waited", Format.duration(started[job] - submitted[job])],
      ["ran", Format.duration(finished[job] - started[job])],
      ["started", Format.duration(started[job])], ["ended", jobs.finished[job] === null ? null : Format.duration(finished[job])],
      ["how", states[jobs.state[job]]],
      ["pods", jobs.pods[job] > 1 ? jobs.pods[job] : null], ["cores", jobs.cores[job] || null],
      ["user", data.users[jobs.user[job]]], ["queue", data.queues[jobs.queue[job]]],
    ];
    for (const [name, value] of facts) {
      if (value === null || value === "" || value === undefined) continue;
      const term = document.createElement("dt"), told = document.createElement("dd");
      term.textContent = name;
      told.textContent = String(value);
      list.append(term, told);
    }
    return [heading, list];
  }

  // Everything over time --------------------------------------------------------------------------------------------

  const sources = {};
  const state = { mode: null, bars: 0, drawn: 0, jobs: count, errors: [] };
  window.batkubeReport = state;

  if (find("gantt")) {
    const sizes = (rows) => ({ minimum: state.fit || rows > 20000 ? 1e-6 : 2.5, maximum: 24, height: window.innerHeight < 700 ? 340 : 440 });
    const gantt = new Gantt(find("gantt"), view, {
      gutter, right: RIGHT, sizes, describe, shown: (text) => { find("part").textContent = text; },
      palette: () => coloring.colors.map(Format.color),
      colorOf: () => colors,
    });
    const show = (mode) => {
      sources[mode] ??= mode === "node" ? byNode() : byJob();
      const { rows, bars } = sources[mode];
      state.mode = mode;
      for (const button of document.querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
      const what = mode === "node" ? `${data.nodes.length} nodes` : `${count} jobs`;
      gantt.show(rows, bars, `Gantt chart: ${bars.count} bars, ${what}. Plus and minus zoom, arrows move, 0 shows all.`);
      state.bars = bars.count;
    };
    Object.defineProperty(state, "drawn", { get: () => gantt.drawn });
    state.view = view;
    state.draw = () => gantt.draw();
    for (const button of document.querySelectorAll("[data-mode]")) button.addEventListener("click", () => show(button.dataset.mode));
    for (const option of [...find("color").options]) {
      const names = { user: data.users, queue: data.queues, priority: data.priorities }[option.value];
      if (names && names.length < 2) option.remove();
    }
    find("color").addEventListener("change", (event) => { colorBy(event.target.value); showLegend(); gantt.draw(); });
    find("rows").addEventListener("click", (event) => {
      state.fit = !state.fit;
      event.target.setAttribute("aria-pressed", String(state.fit));
      gantt.layout();
    });
    find("closer").addEventListener("click", () => view.zoom(0.5));
    find("farther").addEventListener("click", () => view.zoom(2));
    find("all").addEventListener("click", () => view.reset());
    view.changed.push(() => {
      gantt.redraw();
      const whole = view.max - view.min >= end * (1 - 1e-9);
      find("all").disabled = find("farther").disabled = whole;
      find("span").textContent = whole ? "" : `${Format.duration(view.min)} to ${Format.duration(view.max)}`;
    });
    showLegend();
    show(data.bars.job.length ? "node" : "job");
    view.reset();
    state.gantt = gantt;
  }

  const series = data.series;
  if (series.time.length && find("utilization")) {
    const times = [...series.time];
    const lasting = (values) => [...values, values[values.length - 1]];
    times.push(Math.max(data.end, times[times.length - 1]));
    const part = (value, short) => (value === null ? Format.NONE : short ? Math.round(value * 100) + " %" : Format.percent(value));
    const lines = [{ label: "CPU requested", color: "--s0", values: lasting(series.cpu), fill: true }];
    if (series.cpu_used) lines.push({ label: "CPU of running pods", color: "--s5", values: lasting(series.cpu_used) });
    if (series.memory) lines.push({ label: "memory requested", color: "--s1", values: lasting(series.memory) });
    if (series.gpu) lines.push({ label: "GPU requested", color: "--s2", values: lasting(series.gpu) });
    Charts.overTime(find("utilization"), view, gutter, { times, lines, show: part, label: "of allocatable", top: 1 });
    const usage = data.usage;
    if (usage.time && find("usage")) {
      const used = [
        { label: "CPU used", color: "--s0", values: lasting(usage.cpu_used), fill: true },
        { label: "CPU of running pods", color: "--s5", values: lasting(usage.cpu_requested) },
        { label: "memory used", color: "--s1", values: lasting(usage.memory_used) },
        { label: "memory of running pods", color: "--s7", values: lasting(usage.memory_requested), dash: [4, 3] },
      ];
      const dates = [...usage.time, Math.max(data.end, usage.time[usage.time.length - 1])];
      Charts.overTime(find("usage"), view, gutter, { times: dates, lines: used, show: part, label: "of allocatable", top: 1 });
    }
    const pods = (value) => (value === null ? Format.NONE : Format.number(value));
    const queue = [
      { label: "waiting", color: "--s1", values: lasting(series.waiting), fill: true },
      { label: "running", color: "--s0", values: lasting(series.running) },
    ];
    if (series.nodes_up) queue.push({ label: "nodes up", color: "--s7", values: lasting(series.nodes_up), dash: [4, 3] });
    Charts.overTime(find("queue"), view, gutter, { times, lines: queue, show: pods, label: "pods" });
  }

  // Distributions ---------------------------------------------------------------------------------------------------

  const waits = [], slowdowns = [];
  for (let i = 0; i < count; i++) {
    if (Number.isNaN(started[i]) || jobs.finished[i] === null) continue;
    waits.push(started[i] - submitted[i]);
    slowdowns.push(Math.max(1, (finished[i] - submitted[i]) / Math.max(10, finished[i] - started[i])));
  }
  if (waits.length && find("waits")) {
    const own = narrow ? 58 : 64;
    const short = (value, axis, all) => (axis ? Format.tick(value, stepOf(all)) : Format.duration(value));
    const stepOf = (all) => (all.length > 1 ? all[1] - all[0] : 1);
    const longest = waits.reduce((most, wait) => Math.max(most, wait), 0);
    const same = (id, values, text) => {
      const alike = values.every((value) => value === values[0]);
      if (alike) {
        find(id).className = "empty";
        find(id).textContent = values.length === 1 ? `One job: ${text}.` : `All ${values.length.toLocaleString("en")} jobs: ${text}.`;
      }
      return alike;
    };
    const waitLabel = (u, axis, step) => `waiting time (${Format.unitOf(step || Format.stepFor(longest, 6))})`;
    if (!same("waits", waits, Format.duration(waits[0])))
      Charts.distribution(find("waits"), own, { values: waits, least: 0, label: waitLabel, show: short, marks: { incrs: Format.STEPS } });
    if (!same("slowdowns", slowdowns, Format.number(slowdowns[0])))
      Charts.distribution(find("slowdowns"), own, { values: slowdowns, least: 1, logarithmic: true, label: "bounded slowdown", show: (value) => Format.number(value), marks: { filter: Charts.logMarks } });
  }

  // Light, dark, paper ----------------------------------------------------------------------------------------------

  const redraw = () => { state.draw?.(); Charts.redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const paper = (on) => () => { document.documentElement.classList.toggle("on-paper", on); redraw(); };
  window.addEventListener("beforeprint", paper(true));
  window.addEventListener("afterprint", paper(false));
  requestAnimationFrame(() => setTimeout(() => { state.painted = performance.now(); document.documentElement.dataset.painted = String(Math.round(state.painted)); }));
})();
