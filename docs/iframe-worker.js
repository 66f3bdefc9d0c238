// Search of the site without a server: pages that are opened as files may start no worker, but they may have a frame. This is the part of Worker that
// the theme's search calls, in a hidden frame. Elsewhere the browser's own is used.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.ready = new Promise((done, failed) => {
        const frame = document.createElement("iframe");
        frame.hidden = true;
        document.body.append(frame);
        const inside = frame.contentWindow;
        // What the script says to its window is for those who listen here.
        inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = inside.document.createElement("script");
        script.onload = () => done(inside);
        script.onerror = () => failed(new Error(`${url} could not be loaded`));
        script.src = url;
        inside.document.body.append(script);
      });
    }
    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
