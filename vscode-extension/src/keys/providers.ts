// The providers of models that need a key.

/** A provider with a key. */
export interface KeyedProvider {
  /** Its name in the settings: what stands before the colon of `anthropic:MODEL`. */
  name: string;
  /** Its name for people. */
  title: string;
  /** Where a key is made. */
  page: string;
  /** What a model's name looks like. */
  example: string;
}

/** All of them. */
export const KEYED_PROVIDERS: readonly KeyedProvider[] = [
  { name: "anthropic", title: "Anthropic", page: "https://console.anthropic.com/settings/keys", example: "claude-opus-4-5" },
  { name: "openai", title: "OpenAI", page: "https://platform.openai.com/api-keys", example: "gpt-5" },
  { name: "gemini", title: "Google Gemini", page: "https://aistudio.google.com/apikey", example: "gemini-2.5-pro" },
];

/** The provider of that name. */
export function keyedProvider(name: string): KeyedProvider | undefined {
  return KEYED_PROVIDERS.find((provider) => provider.name === name);
}

/** What is wrong with a key as it was typed or pasted; nothing when it can be kept. */
export function wrongWithKey(key: string): string | undefined {
  if (key.trim() === "") return undefined;
  if (/\s/.test(key.trim())) return "A key has no spaces. Was more copied than the key?";
  // Keys go into a header of a request.
  return /^[\x21-\x7e]+$/.test(key.trim()) ? undefined : "A key has only letters, digits and signs of ASCII.";
}
