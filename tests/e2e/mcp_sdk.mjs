// node mcp_sdk.mjs CLIENT DIRECTORY HEDDLE: what a client of the official SDKs gets from `heddle mcp`,
// a line of "NAME: JSON" each. CLIENT is v1, v2 (handshake) or v2-auto (asks for the revision first).
// DIRECTORY is where the packages are. HEDDLE is the program, or the address of a server, for which
// MCP_TOKEN has a token.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [, , which, dir, heddle] = process.argv;
const require = createRequire(dir + '/package.json');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const say = (name, value) => console.log(`${name}: ${JSON.stringify(value)}`);
const info = { name: 'heddle-test', version: '1' };
const uri = 'heddle://thread/build/context';
const watched = 'heddle://thread/build/asset/progress.md';
const notified = [];
const overHttp = heddle.startsWith('http');
let client, transport;

// The transport of an SDK, whose classes are in the modules `stdio` and `http`.
async function connectWith(stdio, http) {
    if (overHttp) {
        const { StreamableHTTPClientTransport } = await load(http);
        return new StreamableHTTPClientTransport(new URL(`${heddle}/mcp?agent=Collab`), {
            requestInit: { headers: { Authorization: `Bearer ${process.env.MCP_TOKEN}` } },
        });
    }
    const { StdioClientTransport } = await load(stdio);
    return new StdioClientTransport({ command: heddle, args: ['mcp', '--agent', 'Collab'] });
}

if (which === 'v1') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { ResourceUpdatedNotificationSchema } = await load('@modelcontextprotocol/sdk/types.js');
    client = new Client(info);
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => notified.push(n.params.uri));
    transport = await connectWith('@modelcontextprotocol/sdk/client/stdio.js', '@modelcontextprotocol/sdk/client/streamableHttp.js');
} else {
    const { Client } = await load('@modelcontextprotocol/client');
    client = new Client(info, which === 'v2-auto' ? { versionNegotiation: { mode: 'auto' } } : {});
    client.setNotificationHandler('notifications/resources/updated', (n) => notified.push(n.params.uri));
    transport = await connectWith('@modelcontextprotocol/client/stdio', '@modelcontextprotocol/client');
}
await client.connect(transport);
say('server', client.getServerVersion()?.name ?? null);
say('instructions', (client.getInstructions() ?? '').includes('<thread_context'));
say('tools', (await client.listTools()).tools.map((t) => t.name));
const all = [];
let page = {};
do {
    page = await client.listResources(page.nextCursor ? { cursor: page.nextCursor } : {});
    all.push(...page.resources.map((r) => r.uri));
} while (page.nextCursor);
say('resources', all.filter((u) => u.startsWith('heddle://thread/build/')));
say('templates', (await client.listResourceTemplates()).resourceTemplates.length);
say('read', (await client.readResource({ uri })).contents[0].text.slice(0, 31));
say('prompts', (await client.listPrompts()).prompts.map((p) => p.name));
const prompt = await client.getPrompt({ name: 'thread-context', arguments: { thread: 'build', task: 'Go on.' } });
say('prompt', prompt.messages[0].content.text.endsWith('</thread_context>\n\nGo on.'));
const said = await client.callTool({ name: 'loom', arguments: { thread: 'build', lines: `Said by ${which}.\n→ tree` } });
say('loom', [said.isError ?? false, /^[0-9a-z]{4,}$/.test(said.structuredContent.node)]);
let progress, found;
// An SDK may drop what reaches it together with the answer: another call shows it again.
for (let i = 0; i < 500 && !progress?.length; i++) {
    progress = [];
    found = await client.callTool({ name: 'search', arguments: { query: `Said by '${which}'` } },
        ...(which === 'v1' ? [undefined] : []), { onprogress: (p) => progress.push(p.progress) });
}
say('search', found.structuredContent.items.length);
say('progress', progress.length > 0 && progress.every((p, i) => !i || p > progress[i - 1]));
const wrong = await client.callTool({ name: 'read', arguments: { thread: 'build', name: 'nothing.md' } });
say('wrong', [wrong.isError, wrong.content[0].text.split(':')[0]]);
say('completion', (await client.complete({ ref: { type: 'ref/prompt', name: 'thread-context' }, argument: { name: 'thread', value: 'bu' } })).completion.values);
try {
    await client.readResource({ uri: 'heddle://thread/nobody/context' });
} catch (e) {
    say('missing', e.code);
}
const stop = new AbortController();
stop.abort('not wanted');
try {
    await client.callTool({ name: 'search', arguments: { query: 'x' } }, ...(which === 'v1' ? [undefined] : []), { signal: stop.signal });
} catch (e) {
    say('cancelled', true);
}
if (which === 'v2-auto') {
    const listening = await client.listen({ resourceSubscriptions: [watched] });
    say('subscribed', listening !== undefined);
} else {
    await client.subscribeResource({ uri: watched });
    say('subscribed', true);
}
const { writeFileSync } = await import('node:fs');
writeFileSync('.leslie/threads/build/progress.md', `Changed by ${which}.\n`);
for (let i = 0; i < 2400 && !notified.length; i++) await new Promise((go) => setTimeout(go, 50));
say('updated', notified[0] ?? null);
await client.close();
