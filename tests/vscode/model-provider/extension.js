// A language model of the editor that passes questions on to the server at MODEL_SERVER. What it was asked is a line in MODEL_LOG.
const fs = require("node:fs");
const vscode = require("vscode");

/** A small model writes on and on; what is tested is the way, and not what comes along it. */
const MOST_TOKENS = 48;

const MODEL = {
  id: "local-smollm",
  name: "Local SmolLM",
  family: "smollm2",
  version: "1",
  maxInputTokens: 8192,
  maxOutputTokens: MOST_TOKENS,
  capabilities: { toolCalling: true },
};

exports.activate = (context) => {
  const provider = {
    provideLanguageModelChatInformation: () => [MODEL],
    provideTokenCount: (_, text) => (typeof text === "string" ? text.length : 100) / 4,
    provideLanguageModelChatResponse: answer,
  };
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("local-model", provider));
};

async function answer(_, messages, options, progress, token) {
  const tool = options.tools?.[0];
  const conversation = messages.map(({ role, content }) => ({
    role: role === vscode.LanguageModelChatMessageRole.User ? "user" : "assistant",
    // Its window is small: the end of a question is what is asked.
    content: content.map((part) => part.value ?? "").join("").slice(-1200),
  }));
  const asked = { tool: tool?.name, required: options.toolMode === vscode.LanguageModelChatToolMode.Required, messages: messages.length };
  fs.appendFileSync(process.env.MODEL_LOG, `${JSON.stringify(asked)}\n`);
  const abort = new AbortController();
  token.onCancellationRequested(() => abort.abort());
  const response = await fetch(`${process.env.MODEL_SERVER}/v1/chat/completions`, {
    method: "POST",
    signal: abort.signal,
    headers: { "content-type": "application/json", authorization: `Bearer ${process.env.MODEL_KEY}` },
    body: JSON.stringify({
      messages: conversation,
      stream: true,
      max_tokens: MOST_TOKENS,
      temperature: 0,
      seed: 1,
      ...(tool && { response_format: { type: "json_schema", json_schema: { name: tool.name, schema: tool.inputSchema } } }),
    }),
  });
  if (!response.ok) throw vscode.LanguageModelError.Blocked(`${response.status}: ${await response.text()}`);
  let text = "";
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines.filter((line) => line.startsWith("data: {"))) {
      const part = JSON.parse(line.slice("data: ".length)).choices[0]?.delta?.content ?? "";
      text += part;
      if (!tool && part !== "") progress.report(new vscode.LanguageModelTextPart(part));
    }
  }
  if (tool) progress.report(new vscode.LanguageModelToolCallPart("1", tool.name, whole(text)));
}

/** The answer as an object; one that was cut off is empty, which does not fit the schema. */
function whole(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
