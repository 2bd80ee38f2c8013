// Stands between a client and a PostgreSQL server and counts round trips.
//
//     node postgres_flights.mjs LISTEN SERVER COUNTS
//
// LISTEN and SERVER are unix sockets. When a connection is made, a line "open" goes to COUNTS; when it ends, a line
// "trips N", and before it a line for each round trip with what was asked in it.
//
// The number is taken from the messages, not from when they arrive: a server answers a pipeline when it gets Sync (or
// Flush, or a simple Query), so a client cannot wait for anything else, and each of these is a round trip, however the
// network or the scheduler cuts the bytes. Connecting has none of them. Two things are sent with a Sync of their own
// and not waited for: the question for the version of the tables, which goes in front of the first flight, and
// ROLLBACK. They are not counted, and that nobody waits for them is not taken on trust: what the server says is held
// back until a Sync comes that is counted, so a client that does wait gets no answer.
import { createServer, connect } from 'node:net';
import { appendFileSync, writeFileSync } from 'node:fs';

const [listen, server, counts] = process.argv.slice(2);
const STARTUP = 196608; // the code of the one message without a type that is not answered by a single byte
const NOT_WAITED_FOR = [/^ROLLBACK$/, /^SELECT version, partitions, /];

// Takes the bytes of a client in pieces.
class Reader {
    constructor() {
        this.rest = Buffer.alloc(0);
        this.started = false;
        this.said = []; // statements since the last Sync
        this.trips = []; // the statements of each round trip
        this.waits = true; // may the client wait for an answer to what it has sent last?
    }

    // Messages are a type, a length of four bytes that counts itself, the rest; the first ones have no type.
    take(bytes) {
        this.rest = Buffer.concat([this.rest, bytes]);
        for (;;) {
            const typed = this.started ? 1 : 0;
            if (this.rest.length < typed + 4)
                return;
            const end = typed + this.rest.readUInt32BE(typed);
            if (this.rest.length < end)
                return;
            const message = this.rest.subarray(0, end);
            this.rest = this.rest.subarray(end);
            if (typed)
                this.see(String.fromCharCode(message[0]), message.subarray(5));
            else
                this.started = message.readUInt32BE(4) === STARTUP;
        }
    }

    see(type, body) {
        const names = body.toString('latin1').split('\0');
        if (type === 'P')
            this.said.push(names[1]);
        else if (type === 'Q')
            this.said.push(names[0]);
        else if (type === 'B' && names[1] !== '')
            this.said.push(`kept as ${names[1]}`);
        if (!'SHQ'.includes(type))
            return;
        this.waits = !this.said.length || this.said.some((text) => !NOT_WAITED_FOR.some((not) => not.test(text)));
        if (this.waits)
            this.trips.push(this.said);
        this.said = [];
    }

    lines() {
        const asked = this.trips.map((said) => `asked: ${said.map((text) => text.slice(0, 70)).join('; ')}\n`);
        return `${asked.join('')}trips ${this.trips.length}\n`;
    }
}

createServer((client) => {
    const upstream = connect(server);
    const reader = new Reader();
    const held = [];
    const pass = () => {
        for (const bytes of reader.waits ? held.splice(0) : [])
            client.write(bytes);
    };
    appendFileSync(counts, 'open\n');
    client.on('data', (bytes) => {
        reader.take(bytes);
        upstream.write(bytes);
        pass();
    });
    upstream.on('data', (bytes) => {
        held.push(bytes);
        pass();
    });
    const end = () => {
        client.destroy();
        upstream.destroy();
    };
    client.on('close', () => {
        appendFileSync(counts, reader.lines());
        end();
    });
    client.on('error', end);
    upstream.on('error', end);
    upstream.on('close', () => client.end());
}).listen(listen, () => writeFileSync(counts, ''));
