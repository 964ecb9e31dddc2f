// Reads a PowerShell script on stdin by tree-sitter's grammar of it, and fails where it
// is none. scripts/completion.sh runs it in a folder with @vscode/tree-sitter-wasm.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const { Parser, Language } = require("@vscode/tree-sitter-wasm");
const file = (name) => require.resolve("@vscode/tree-sitter-wasm/wasm/" + name);

await Parser.init({ locateFile: () => file("tree-sitter.wasm") });
const parser = new Parser();
parser.setLanguage(await Language.load(file("tree-sitter-powershell.wasm")));
const root = parser.parse(readFileSync(0, "utf8")).rootNode;

const bad = [];
const look = (node) => {
	if (node.isError || node.isMissing) bad.push(`line ${node.startPosition.row + 1}: ${node.text.slice(0, 60)}`);
	node.children.forEach(look);
};
look(root);
if (root.childCount === 0) bad.push("nothing was read");
bad.forEach((line) => console.error(line));
process.exitCode = bad.length ? 1 : 0;
