"use strict";
// The page of a simulation that goes on: what server-sent events tell, and the buttons of its clock.
(() => {
  const find = (id) => document.getElementById(id);
  const KEPT = 3000; // points of the lines
  const state = { events: 0, look: null, nodes: [] };
  window.batkubeLive = state;
  const times = [], used = [], waiting = [];
  let plot = null, before = null, decided = [];

  const text = (id, value) => { if (find(id).textContent !== value) find(id).textContent = value; };

  // Charts of this page show all that was seen.
  const view = { min: 0, max: 1, changed: [], set() {}, reset() {} };

  function show(look) {
    state.events += 1;
    state.look = look;
    const { clock, counts } = look;
    if (look.nodes) state.nodes = look.nodes;
    if (clock.now < (times[times.length - 1] ?? 0) || clock.state === "waiting") { // another simulation
      for (const column of [times, used, waiting]) column.length = 0;
      decided = [];
    }
    text("now", clock.state === "waiting" ? "No simulation yet" : Format.duration(clock.now));
    text("date", clock.date ? `simulated: ${clock.date}` : "waiting for a simulation to begin");
    const pill = find("state");
    text("state", clock.state);
    pill.className = "pill " + ({ running: "good", paused: "warn" }[clock.state] || "");
    document.title = `${Format.duration(clock.now)} · ${clock.state} · batkube`;
    const paused = clock.state === "paused";
    text("pause", paused ? "Resume" : "Pause");
    find("pause").disabled = clock.state === "over";
    find("step").disabled = !paused;
    const pace = find("pace"), factor = clock.pace === null ? "max" : String(clock.pace);
    if (document.activeElement !== pace) {
      if (![...pace.options].some((option) => option.value === factor)) pace.add(new Option(`${factor} s a second`, factor));
      pace.value = factor;
    }
    text("running", Format.number(counts.running));
    text("waiting", Format.number(counts.waiting));
    text("over", Format.number(counts.over));
    text("rejected", counts.rejected ? `${Format.number(counts.rejected)} rejected` : `of ${Format.number(counts.submitted)} submitted`);
    const busy = look.pods.filter((pods) => pods > 0).length, down = look.use.filter((part) => part < 0).length;
    text("used", look.pods.length ? `${busy} / ${look.pods.length}` : Format.NONE);
    text("down", down ? `${down} not ready` : "all ready");
    showSpeed(clock);
    showNodes(look);
    showLines(look);
    showQueue(look);
    showDecisions(look);
    find("warnings").hidden = !look.warnings.length;
    text("warnings", look.warnings.slice(-5).join(" · "));
  }

  function showSpeed(clock) {
    const moment = performance.now() / 1000;
    if (before && moment - before.moment >= 2) {
      const speed = (clock.now - before.now) / (moment - before.moment);
      text("speed", clock.state === "running" && speed >= 0 ? Format.number(Math.round(speed)) : Format.NONE);
      before = { moment, now: clock.now };
    }
    before ??= { moment, now: clock.now };
  }

  function showNodes(look) {
    const canvas = find("nodes"), count = look.use.length;
    find("no-nodes").hidden = count > 0;
    canvas.hidden = count === 0;
    if (!count) return;
    const width = canvas.parentElement.clientWidth;
    const side = Math.max(4, Math.min(34, Math.floor(Math.sqrt((width * 260) / count))));
    const across = Math.max(1, Math.floor(width / side)), rows = Math.ceil(count / across), ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = rows * side * ratio;
    canvas.style.height = rows * side + "px";
    const context = canvas.getContext("2d"), gap = side > 8 ? 2 : 1, box = side - gap;
    context.scale(ratio, ratio);
    const colors = { empty: Format.color("--grid"), full: Format.color("--s0"), down: Format.color("--bad") };
    look.use.forEach((part, index) => {
      const x = (index % across) * side, y = Math.floor(index / across) * side;
      context.fillStyle = colors.empty;
      context.fillRect(x, y, box, box);
      if (part < 0) {
        context.strokeStyle = colors.down;
        context.beginPath();
        context.moveTo(x, y); context.lineTo(x + box, y + box); context.moveTo(x + box, y); context.lineTo(x, y + box);
        context.stroke();
      } else if (part > 0) {
        const high = Math.max(1, (box * Math.min(100, part)) / 100);
        context.fillStyle = colors.full;
        context.fillRect(x, y + box - high, box, high);
      }
    });
    canvas.dataset.filled = String(look.use.filter((part) => part > 0).length);
    canvas.onmousemove = (event) => {
      const index = Math.floor(event.offsetY / side) * across + Math.floor(event.offsetX / side);
      const part = look.use[index];
      canvas.title = index < count && event.offsetX < across * side
        ? `${state.nodes[index]}: ${part < 0 ? "not ready" : part + " % of its cores"}, ${look.pods[index]} pods` : "";
    };
  }

  function showLines(look) {
    if (look.clock.state === "waiting" || !look.use.length) return;
    const ready = look.use.filter((part) => part >= 0);
    const part = ready.reduce((sum, use) => sum + use, 0) / Math.max(1, ready.length) / 100;
    const last = times.length - 1;
    if (last >= 0 && times[last] === look.clock.now) { used[last] = part; waiting[last] = look.counts.waiting; }
    else { times.push(look.clock.now); used.push(part); waiting.push(look.counts.waiting); }
    if (times.length > KEPT) for (const column of [times, used, waiting]) {
      for (let i = 0; 2 * i < column.length; i++) column[i] = column[2 * i];
      column.length = Math.ceil(column.length / 2);
    }
    view.min = times[0];
    view.max = Math.max(times[times.length - 1], times[0] + 1);
    plot ??= create();
    plot.setData([times, used.map((value) => value * 100), waiting]);
    plot.setScale("x", { min: view.min, max: view.max });
  }

  function create() {
    return Charts.overTime(find("lines"), view, window.innerWidth < 640 ? 58 : 70, {
      times, label: "", tall: 200,
      lines: [{ label: "cores asked for, %", color: "--s0", values: [], fill: true }, { label: "jobs waiting", color: "--s1", values: [] }],
      show: (value) => (value === null || value === undefined ? Format.NONE : Format.number(value)),
    });
  }

  const cell = (value, name) => {
    const made = document.createElement("td");
    made.textContent = value;
    if (name) made.className = name;
    return made;
  };
  const row = (...cells) => {
    const made = document.createElement("tr");
    made.append(...cells);
    return made;
  };

  function showQueue(look) {
    find("queue").replaceChildren(...look.queue.map((job) => row(
      cell(job.job, "name"), cell(Format.duration(look.clock.now - job.since), "number"),
      cell(job.bound ? `${job.bound} of ${job.pods}` : String(job.pods), "number"), cell(job.said, "muted"))));
    const more = look.queued - look.queue.length;
    text("more", more > 0 ? `and ${Format.number(more)} more` : look.queued ? "" : "No job waits.");
  }

  const WORDS = { bound: "bound to", refused: "not placed:", ended: "ended", failed: "failed", removed: "removed" };
  function showDecisions(look) {
    if (!look.decisions.length && decided.length) return;
    decided = [...decided, ...look.decisions].slice(-30);
    find("decisions").replaceChildren(...decided.toReversed().map((one) => row(
      cell(Format.duration(one.time), "number"), cell(one.pod, "name"), cell(`${WORDS[one.what] || one.what} ${one.said}`, one.what))));
  }

  // The clock -------------------------------------------------------------------------------------------------------

  async function control(method, action, body) {
    try {
      const answer = await fetch("/batkube/v1/clock" + action, {
        method, headers: body ? { "Content-Type": "application/json" } : {}, body: body ? JSON.stringify(body) : undefined,
      });
      text("trouble", answer.ok ? "" : (await answer.json()).detail || `refused: ${answer.status}`);
    } catch {
      text("trouble", "the server does not answer");
    }
  }
  find("pause").addEventListener("click", () => control("POST", state.look?.clock.state === "paused" ? "/resume" : "/pause"));
  find("step").addEventListener("click", () => control("POST", "/step"));
  find("pace").addEventListener("change", (event) => {
    const value = event.target.value;
    event.target.blur();
    control("PUT", "/pace", { factor: value === "max" ? null : Number(value) });
  });

  const source = new EventSource("/batkube/v1/live");
  source.onmessage = (event) => { text("trouble", ""); show(JSON.parse(event.data)); };
  const gone = (what) => { text("state", what); find("state").className = "pill"; };
  source.addEventListener("end", () => { source.close(); gone("the server has stopped"); });
  source.onerror = () => gone("not connected");
  window.addEventListener("resize", () => { if (state.look) showNodes(state.look); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { Charts.redraw(); if (state.look) showNodes(state.look); });
})();
