"use strict";
// Two runs under each other, on one scale of time: each job has the colour of what became of its wait.
(() => {
  const { sides } = JSON.parse(document.getElementById("schedules").textContent);
  const end = Math.max(...sides.map((data) => data.end)) || 1;
  const view = timeView(end);
  const SAME = 0, SHORTER = 1, LONGER = 2, ALONE = 3;
  const COLORS = ["--s7", "--s0", "--bad", "--s4"], NAMES = ["waits as long", "waits shorter in B", "waits longer in B", "runs on one side only"];
  const waits = sides.map(({ jobs }) => new Map(jobs.name.map((name, j) => [name, jobs.started[j] === null ? null : jobs.started[j] - jobs.submitted[j]])));
  const became = (name) => {
    const [before, after] = waits.map((side) => side.get(name) ?? null);
    if (before === null || after === null) return ALONE;
    return Math.abs(after - before) < 0.0005 ? SAME : after < before ? SHORTER : LONGER;
  };
  const legend = document.getElementById("legend");
  NAMES.forEach((name, index) => {
    const item = document.createElement("span"), swatch = document.createElement("i");
    swatch.className = "swatch";
    swatch.style.background = `var(${COLORS[index]})`;
    item.append(swatch, name);
    legend.append(item);
  });
  window.batkubeCompare = sides.map((data, side) => {
    const { jobs } = data, count = jobs.name.length;
    const started = Float64Array.from(jobs.started, (time) => (time === null ? NaN : time));
    const finished = Float64Array.from(jobs.finished, (time, j) => (time === null ? (Number.isNaN(started[j]) ? NaN : data.end) : time));
    const colors = Uint8Array.from(jobs.name, became);
    let drawn;
    if (data.bars.job.length) drawn = Gantt.byNode(data, started, finished);
    else {
      const ran = [...Array(count).keys()].filter((j) => !Number.isNaN(started[j]));
      const of = (times) => ran.map((j) => times[j]);
      drawn = {
        bars: Gantt.packed(ran, of(started), of(finished), ran, Float64Array.from(jobs.submitted)),
        rows: { count, label: (r) => jobs.name[r], span: (r) => [r, r + 1], title: () => null },
      };
    }
    const gantt = new Gantt(document.getElementById(`gantt-${side}`), view, {
      gutter: 84, right: 28, shown: () => {},
      sizes: (rows) => ({ minimum: rows > 20000 ? 1e-6 : 2.5, maximum: 24, height: 320 }),
      palette: () => COLORS.map(Format.color), colorOf: () => colors,
      describe: (job, place) => {
        const heading = document.createElement("b"), text = document.createElement("div");
        const [before, after] = waits.map((found) => Format.duration(found.get(jobs.name[job]) ?? null));
        heading.textContent = jobs.name[job];
        text.textContent = `${place ? `on ${place}, ` : ""}waits ${before} in A, ${after} in B; ${Format.duration(started[job])} to ${Format.duration(finished[job])}`;
        return [heading, text];
      },
    });
    gantt.show(drawn.rows, drawn.bars, `Gantt chart of ${side ? "B" : "A"}: ${drawn.bars.count} bars. Plus and minus zoom, arrows move, 0 shows all.`);
    view.changed.push(() => gantt.draw());
    return { bars: drawn.bars.count, gantt };
  });
})();
