// A target of nats-reader chaos: reads a stream with the ordered consumer of nats.js and
// prints the payload of each message as a line.
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

const { NATS_URL, NATS_READER_STREAM, NATS_READER_SUBJECT = "", NATS_READER_DURABLE = "" } = process.env;
if (!NATS_URL || !NATS_READER_STREAM) {
  console.error("NATS_URL and NATS_READER_STREAM must say what to read");
  process.exit(1);
}

// nats.js takes a login apart from the address.
const url = new URL(NATS_URL);
const login = url.username ? { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } : {};
const nc = await connect({ servers: url.host, maxReconnectAttempts: -1, ...login });

// Without a name an ordered consumer, with one a durable.
const filter_subjects = NATS_READER_SUBJECT.split(" ").filter(Boolean);
const js = jetstream(nc);
let consumer;
if (NATS_READER_DURABLE) {
  const jsm = await js.jetstreamManager();
  await jsm.consumers.add(NATS_READER_STREAM, { durable_name: NATS_READER_DURABLE, ack_policy: "explicit", filter_subjects });
  consumer = await js.consumers.get(NATS_READER_STREAM, NATS_READER_DURABLE);
} else {
  consumer = await js.consumers.get(NATS_READER_STREAM, { filter_subjects });
}

const messages = await consumer.consume();
(async () => {
  for await (const s of messages.status()) {
    if (!["debug", "next", "heartbeat"].includes(s.type)) console.error(JSON.stringify(s));
  }
})();
for await (const m of messages) {
  process.stdout.write(m.string().split(" ", 1)[0] + "\n");
  if (NATS_READER_DURABLE) m.ack();
}
console.error("the consumer has ended", (await nc.closed()) ?? "");
process.exit(1);
