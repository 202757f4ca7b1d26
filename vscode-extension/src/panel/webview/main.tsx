// The panel's page: it is shown what the extension sends, and asks the extension for what it cannot do itself.

import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app";
import type { FromPage, PanelState, ToPage } from "./messages";

const editor = acquireVsCodeApi<PanelState>();
const post = (message: FromPage): void => {
  editor.postMessage(message);
};
const root = document.getElementById("root");
if (root !== null) {
  let draw: ((message: ToPage) => void) | undefined;
  const connect = (listener: (message: ToPage) => void): void => {
    draw = listener;
    post({ type: "ready" });
  };
  window.addEventListener("message", (event: MessageEvent<ToPage>) => {
    const message = event.data;
    if (message.type === "show") {
      const { data } = message;
      // The newest run is followed as long as the user has not chosen an older one.
      const chosen = data.population !== null && data.population.run !== data.runs[0]?.run ? { run: data.population.run } : {};
      editor.setState({ uri: data.uri, ...chosen });
    }
    draw?.(message);
  });
  render(<App post={post} connect={connect} />, root);
}
