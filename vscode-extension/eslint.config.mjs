import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import typescript from "typescript-eslint";

export default defineConfig(
  { ignores: ["dist/", "target/", "node_modules/", "bin/", "src/protocol.ts"] },
  js.configs.recommended,
  { files: ["**/*.mjs"], languageOptions: { globals: { console: "readonly", process: "readonly", URL: "readonly" } } },
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [typescript.configs.strictTypeChecked, typescript.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: ["tsconfig.json", "tsconfig.webview.json"], tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `node:test` hands out promises that it keeps itself.
      "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: [{ from: "package", name: ["test", "suite", "describe", "it"], package: "node:test" }] }],
      eqeqeq: ["error", "always", { null: "ignore" }],
    },
  },
);
