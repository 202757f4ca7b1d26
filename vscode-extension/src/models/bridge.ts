// The editor's own models (those of GitHub Copilot and of other extensions) behind the server's stages.
//
// The editor asks its user for consent at the first request, which must follow from something that the user did.

import * as vscode from "vscode";
import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";
import type { Client } from "../client";
import { Methods, type ModelAnswer, type ModelFailure, type ModelFailureKind, type ModelParams } from "../protocol";
import { kindOf, meant, why } from "./conversation";

/** Code of an error that is the editor's own, in the range that JSON-RPC leaves to implementations. */
const EDITOR_FAILED = -32_000;

/** Answers the server's questions with the editor's models. */
export function bridgeModels(context: vscode.ExtensionContext, client: Client): void {
  client.onRequest(Methods.model, (params: ModelParams, token) => answer(context, client, params, token));
}

async function answer(context: vscode.ExtensionContext, client: Client, params: ModelParams, token: vscode.CancellationToken): Promise<ModelAnswer> {
  const model = await chosen(context, params);
  try {
    const response = await model.sendRequest(params.messages.map(written), options(params), token);
    let text = "";
    let toolInput: object | undefined;
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) {
        text += part.value;
        await client.notify(Methods.modelPart, { token: params.token, text: part.value });
      } else if (part instanceof vscode.LanguageModelToolCallPart && part.name === params.tool?.name) {
        toolInput = part.input;
      }
    }
    if (token.isCancellationRequested) throw new vscode.CancellationError();
    return { model: model.id, text, ...(toolInput === undefined ? {} : { toolInput }) };
  } catch (error) {
    if (token.isCancellationRequested) throw new ResponseError(LSPErrorCodes.RequestCancelled, "given up");
    client.log.warn(`The model ${model.id} did not answer: ${why(error)}`);
    throw failed(kindOf(error), why(error));
  }
}

/** The model that is meant; the first of them where there are several. */
async function chosen(context: vscode.ExtensionContext, params: ModelParams): Promise<vscode.LanguageModelChat> {
  const models = await vscode.lm.selectChatModels();
  const [model] = meant(models, params.model);
  if (model === undefined) {
    const wish = params.model == null ? "a model" : `the model ${params.model}`;
    const known = models.length === 0 ? "no extension offers one" : `there are: ${models.map(({ id }) => id).join(", ")}`;
    throw failed("NotFound", `${wish} was asked for; ${known}`);
  }
  // Without an action of the user's the question for consent would come out of nowhere.
  if (!params.isOfUser && context.languageModelAccessInformation.canSendRequest(model) !== true) {
    throw failed("NoPermissions", `${model.name} was not allowed yet; start Evolve once by hand`);
  }
  return model;
}

function written({ role, text }: ModelParams["messages"][number]): vscode.LanguageModelChatMessage {
  return role === "user" ? vscode.LanguageModelChatMessage.User(text) : vscode.LanguageModelChatMessage.Assistant(text);
}

function options({ justification, tool }: ModelParams): vscode.LanguageModelChatRequestOptions {
  if (tool == null) return { justification };
  const { name, description, inputSchema } = tool;
  return { justification, tools: [{ name, description, inputSchema: inputSchema as object }], toolMode: vscode.LanguageModelChatToolMode.Required };
}

function failed(kind: ModelFailureKind, message: string): ResponseError<ModelFailure> {
  return new ResponseError(EDITOR_FAILED, message, { kind });
}
