// The npm clients of scripts/clients.sh: each finds and reads what the sample corpus has.
//
//     clients.mjs NODE_MODULES URL PROGRAM

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { promisify } from "node:util";

const [modules, url, program] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const lines = readFileSync("datasets/sample-wiki/articles.jsonl", "utf8").trim().split("\n");
const articles = Object.fromEntries(lines.map((line) => JSON.parse(line)).map((article) => [article.title, article]));
const plain = articles["Ada Lovelace"];
const text = plain.blocks.join("\n\n");
// Words that stand in one article and are no title.
const [words, found] = ["barefoot blisters archery", "Abebe Bikila"];

let checked = 0;
function check(what, got, wanted) {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) {
    console.error(`\nerror: ${what}: ${JSON.stringify(got)} in place of ${JSON.stringify(wanted)}`);
    process.exit(1);
  }
  checked += 1;
}

const { Mwn } = require("mwn");
const bot = new Mwn({ apiUrl: `${url}/w/api.php`, userAgent: "wikitrail (https://example.org)", silent: true });
await bot.getSiteInfo();
const read = await bot.read(plain.title);
check("mwn reads", read.revisions[0].slots?.main.content ?? read.revisions[0].content, text);
check("mwn searches", (await bot.search(words, 3, ["snippet"])).some((hit) => hit.title === found), true);
check("mwn knows a page", await new bot.Page(plain.title).exists(), true);

const wiki = require("wikijs").default({ apiUrl: `${url}/w/api.php` });
check("wikijs searches", (await wiki.search(words, 3)).results.includes(found), true);
check("wikijs reads", await (await wiki.page(plain.title)).rawContent(), plain.blocks.join("\n"));

const Nodemw = require("nodemw").default ?? require("nodemw");
const { hostname, port } = new URL(url);
const node = new Nodemw({ server: hostname, port: Number(port), path: "/w", protocol: "http" });
check("nodemw reads", await promisify(node.getArticle.bind(node))(plain.title), text);

const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const transports = [
  new StreamableHTTPClientTransport(new URL(`${url}/mcp`)),
  new StdioClientTransport({ command: program, args: ["mcp", "corpus:datasets/sample-wiki"] }),
];
for (const transport of transports) {
  const client = new Client({ name: "clients", version: "1" });
  await client.connect(transport);
  const page = await client.callTool({ name: "search", arguments: { query: plain.title } });
  check("the SDK searches", page.structuredContent.title, plain.title);
  const looked = { keyword: "lovelace", session: page.structuredContent.session };
  check("the SDK looks up", (await client.callTool({ name: "lookup", arguments: looked })).structuredContent.result, 1);
  const wrong = await client.callTool({ name: "search", arguments: { query: 5 } });
  check("the SDK shows wrong arguments", [wrong.isError, wrong.content[0].text.includes("send {")], [true, true]);
  await client.close();
}
console.log(`${checked} checks`);
process.exit(0);
