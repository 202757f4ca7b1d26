// The frame of the panel's page. Its policy lets nothing in but our own script and style sheet.

/** What the frame names. */
export interface Frame {
  /** Addresses of the bundle. */
  script: string;
  style: string;
  /** Where the editor serves them from. */
  source: string;
  /** Once for each page: a script without it does not run. */
  nonce: string;
}

/** The page before its script has run. */
export function html({ script, style, source, nonce }: Frame): string {
  const policy = `default-src 'none'; style-src ${source}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Lineage</title>
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>
`;
}
