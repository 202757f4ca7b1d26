// Whether a text holds kernels: what makes a C++ file our business.

const DEVICE_CODE = /\b__(?:global|device|shared)__\b/;

/** Languages whose files are ours without a look at them, and those that are where they hold device code. */
export const LANGUAGES = ["hip", "cpp", "cuda-cpp"] as const;

/** Whether the text has code for a GPU. A word in a comment counts: to look closer is the server's work. */
export function hasDeviceCode(text: string): boolean {
  return DEVICE_CODE.test(text);
}

/** Whether a document is our business. */
export function isKernelFile(document: { languageId: string; uri: { scheme: string }; getText(): string }): boolean {
  if (document.uri.scheme !== "file") return false;
  if (document.languageId === "hip") return true;
  return (LANGUAGES as readonly string[]).includes(document.languageId) && hasDeviceCode(document.getText());
}
