// The editor's variables in its own themes, as far as the panel reads them; taken from a webview of VS Code 1.139.

export type ThemeName = "light" | "dark" | "high-contrast" | "high-contrast-light";

/** The class of the body and the variables of the root element. */
export interface Theme {
  className: string;
  variables: Record<string, string>;
}

const fonts = {
  "font-family": '"DejaVu Sans", sans-serif',
  "font-size": "13px",
  "font-weight": "normal",
  "editor-font-family": '"DejaVu Sans Mono", monospace',
};

export const THEMES: Record<ThemeName, Theme> = {
  dark: {
    className: "vscode-dark",
    variables: {
      ...fonts,
      foreground: "#cccccc", descriptionForeground: "#9d9d9d", disabledForeground: "rgba(204, 204, 204, 0.5)", errorForeground: "#f85149",
      "editor-background": "#1f1f1f", "editorWidget-background": "#202020", "editorWidget-foreground": "#cccccc", "widget-border": "#313131", "widget-shadow": "rgba(0, 0, 0, 0.36)",
      "panel-border": "#2b2b2b", "editorIndentGuide-background1": "#404040", focusBorder: "#0078d4",
      "charts-green": "#89d185", "charts-orange": "#d18616", "charts-blue": "#3794ff", "charts-yellow": "#cca700",
      "textCodeBlock-background": "#2b2b2b", "textLink-foreground": "#4daafc", "progressBar-background": "#0078d4",
      "button-background": "#0078d4", "button-foreground": "#ffffff", "button-hoverBackground": "#026ec1", "button-border": "rgba(255, 255, 255, 0.07)",
      "button-secondaryBackground": "#313131", "button-secondaryForeground": "#cccccc", "button-secondaryHoverBackground": "#3c3c3c",
      "dropdown-background": "#313131", "dropdown-foreground": "#cccccc", "dropdown-border": "#3c3c3c",
      "input-background": "#313131", "input-foreground": "#cccccc", "input-border": "#3c3c3c", "input-placeholderForeground": "#989898",
      "inputValidation-warningBackground": "#352a05", "inputValidation-warningBorder": "#b89500",
      "list-hoverBackground": "#2a2d2e", "list-activeSelectionBackground": "#04395e", "list-activeSelectionForeground": "#ffffff", "list-inactiveSelectionBackground": "#37373d",
      "toolbar-hoverBackground": "rgba(90, 93, 94, 0.31)", "editorHoverWidget-background": "#202020", "editorHoverWidget-foreground": "#cccccc", "editorHoverWidget-border": "#454545",
    },
  },
  light: {
    className: "vscode-light",
    variables: {
      ...fonts,
      foreground: "#3b3b3b", descriptionForeground: "#3b3b3b", disabledForeground: "rgba(97, 97, 97, 0.5)", errorForeground: "#f85149",
      "editor-background": "#ffffff", "editorWidget-background": "#f8f8f8", "editorWidget-foreground": "#3b3b3b", "widget-border": "#e5e5e5", "widget-shadow": "rgba(0, 0, 0, 0.16)",
      "panel-border": "#e5e5e5", "editorIndentGuide-background1": "#d3d3d3", focusBorder: "#005fb8",
      "charts-green": "#388a34", "charts-orange": "#d18616", "charts-blue": "#0063d3", "charts-yellow": "#bf8803",
      "textCodeBlock-background": "#f8f8f8", "textLink-foreground": "#005fb8", "progressBar-background": "#005fb8",
      "button-background": "#005fb8", "button-foreground": "#ffffff", "button-hoverBackground": "#0258a8", "button-border": "rgba(0, 0, 0, 0.1)",
      "button-secondaryBackground": "#e5e5e5", "button-secondaryForeground": "#3b3b3b", "button-secondaryHoverBackground": "#cccccc",
      "dropdown-background": "#ffffff", "dropdown-foreground": "#3b3b3b", "dropdown-border": "#cecece",
      "input-background": "#ffffff", "input-foreground": "#3b3b3b", "input-border": "#cecece", "input-placeholderForeground": "#767676",
      "inputValidation-warningBackground": "#f6f5d2", "inputValidation-warningBorder": "#b89500",
      "list-hoverBackground": "#f2f2f2", "list-activeSelectionBackground": "#e8e8e8", "list-activeSelectionForeground": "#000000", "list-inactiveSelectionBackground": "#e4e6f1", "list-focusOutline": "#005fb8",
      "toolbar-hoverBackground": "rgba(184, 184, 184, 0.31)", "editorHoverWidget-background": "#f8f8f8", "editorHoverWidget-foreground": "#3b3b3b", "editorHoverWidget-border": "#c8c8c8",
    },
  },
  "high-contrast": {
    className: "vscode-high-contrast",
    variables: {
      ...fonts,
      foreground: "#ffffff", descriptionForeground: "rgba(255, 255, 255, 0.7)", disabledForeground: "#a5a5a5", errorForeground: "#f48771",
      "editor-background": "#000000", "editorWidget-background": "#0c141f", "editorWidget-foreground": "#ffffff", contrastBorder: "#6fc3df", contrastActiveBorder: "#f38518",
      "panel-border": "#6fc3df", "editorIndentGuide-background1": "#ffffff", focusBorder: "#f38518",
      "charts-green": "#89d185", "charts-orange": "rgba(234, 92, 0, 0.33)", "charts-blue": "#3794ff", "charts-yellow": "#cca700",
      "textLink-foreground": "#21a6ff", "progressBar-background": "#6fc3df",
      "button-background": "#000000", "button-foreground": "#ffffff", "button-border": "#6fc3df", "button-secondaryForeground": "#ffffff",
      "dropdown-background": "#000000", "dropdown-foreground": "#ffffff", "dropdown-border": "#6fc3df",
      "input-background": "#000000", "input-foreground": "#ffffff", "input-border": "#6fc3df", "input-placeholderForeground": "rgba(255, 255, 255, 0.7)",
      "inputValidation-warningBackground": "#000000", "inputValidation-warningBorder": "#6fc3df",
      "list-focusOutline": "#f38518", "editorHoverWidget-background": "#0c141f", "editorHoverWidget-foreground": "#ffffff", "editorHoverWidget-border": "#6fc3df",
    },
  },
  "high-contrast-light": {
    className: "vscode-high-contrast-light vscode-high-contrast",
    variables: {
      ...fonts,
      foreground: "#292929", descriptionForeground: "rgba(41, 41, 41, 0.7)", disabledForeground: "#7f7f7f", errorForeground: "#b5200d",
      "editor-background": "#ffffff", "editorWidget-background": "#ffffff", "editorWidget-foreground": "#292929", contrastBorder: "#0f4a85", contrastActiveBorder: "#006bbd",
      "panel-border": "#0f4a85", "editorIndentGuide-background1": "#cccccc", focusBorder: "#006bbd",
      "charts-green": "#374e06", "charts-orange": "rgba(234, 92, 0, 0.33)", "charts-blue": "#0063d3", "charts-yellow": "#895503",
      "textCodeBlock-background": "#f2f2f2", "textLink-foreground": "#0f4a85", "progressBar-background": "#0f4a85",
      "button-background": "#0f4a85", "button-foreground": "#ffffff", "button-hoverBackground": "#0f4a85", "button-border": "#0f4a85", "button-secondaryBackground": "#ffffff", "button-secondaryForeground": "#292929",
      "dropdown-background": "#ffffff", "dropdown-foreground": "#292929", "dropdown-border": "#0f4a85",
      "input-background": "#ffffff", "input-foreground": "#292929", "input-border": "#0f4a85", "input-placeholderForeground": "rgba(41, 41, 41, 0.7)",
      "list-activeSelectionBackground": "rgba(15, 74, 133, 0.1)", "list-focusOutline": "#006bbd", "list-hoverBackground": "rgba(15, 74, 133, 0.1)", "editorHoverWidget-background": "#ffffff", "editorHoverWidget-foreground": "#292929", "editorHoverWidget-border": "#0f4a85",
    },
  },
};
