// Reads the trace in the page and shows it; says so if it cannot.

/** Shows a failure instead of an empty page. */
function fail(error) {
  document.documentElement.dataset.timeline = "failed";
  const status = document.getElementById("status");
  status.classList.add("failure");
  status.textContent =
    error instanceof PayloadError ? error.message : `The trace cannot be shown: ${error.message}`;
}

async function start() {
  const payload = document.getElementById("payload");
  try {
    const model = new Model(await readPayload(payload));
    payload.remove(); // its text is as large as the trace
    const timeline = new Timeline(model);
    window.timeline = timeline;
    showTitle(model, timeline.time);
    timeline.measure();
    timeline.scrollAsAsked();
    timeline.draw();
    await painted();
    timeline.firstPaint = performance.now();
    connect(timeline);
    timeline.showPanels();
    timeline.drawOverview();
    timeline.say(model.count ? timeline.summary() : "The trace is empty: nothing was recorded.");
    if (timeline.state.selected >= 0) timeline.select(timeline.state.selected);
    document.documentElement.dataset.timeline = "ready";
  } catch (error) {
    fail(error);
  }
}

/** After the browser has put on the screen what was drawn. */
function painted() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(null);
    });
  });
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
