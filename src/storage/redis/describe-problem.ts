import { StoreError } from "../../base/failures/store-error.ts";
import { ReplyError } from "./resp.ts";

/** The problems of a server, and what the operator can do about each. */
const REMEDIES: Readonly<Record<string, string>> = {
  OOM: "Redis is full: raise its maxmemory, or give the gateways a Redis of their own",
  READONLY: "it is a read-only replica: point redis.url at the master",
  MISCONF: "it cannot save its data and takes no writes: look at its log and disk",
  NOREPLICAS: "too few of its replicas are connected: look at min-replicas-to-write",
  LOADING: "it is loading its data: wait until it has",
  MASTERDOWN: "it is a replica whose master is away: point redis.url at the master",
  CLUSTERDOWN: "the cluster has slots that no server serves: look at CLUSTER INFO",
  BUSY: "a script of another client keeps it busy: SCRIPT KILL ends it",
  NOAUTH: "it needs a password: redis://user:password@host:port",
  WRONGPASS: "the user or password of redis.url is wrong",
  DENIED: "it is in protected mode: set a password, or bind it to an address",
};

/** Answers of a server that rejects all commands at the moment. They mean an outage, not a wrong or forbidden command. */
const OUTAGES: ReadonlySet<string> = new Set([
  "OOM",
  "READONLY",
  "MISCONF",
  "NOREPLICAS",
  "LOADING",
  "MASTERDOWN",
  "CLUSTERDOWN",
  "BUSY",
  "NOAUTH",
]);

/** Returns the server's answer that made a command fail; null if there was none. */
export function replyOf(error: unknown): ReplyError | null {
  const cause = error instanceof StoreError ? error.cause : error;
  return cause instanceof ReplyError ? cause : null;
}

/** Returns whether a command failed because of the state of the server or the connection, so that others would fail too. */
export function isOutage(error: unknown): boolean {
  const reply = replyOf(error);
  return reply === null || OUTAGES.has(reply.code);
}

/** Returns why a command failed and what to do, in a sentence without its end. */
export function describeProblem(error: unknown): string {
  const reply = replyOf(error);
  if (reply !== null) return describeReply(reply);
  const cause = error instanceof StoreError ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Commands that the gateway sends, by the word in the server's message. */
const PERMISSION = /'([a-z]+)(?:\|([a-z]+))?' command/i;
const SCRIPTS: ReadonlySet<string> = new Set(["eval", "evalsha", "script"]);

function describeReply({ code, message }: ReplyError): string {
  const remedy = REMEDIES[code];
  if (remedy !== undefined) return `${remedy} (it answers: ${shorten(message)})`;
  if (code === "NOPERM") {
    const command = PERMISSION.exec(message)?.[1]?.toLowerCase();
    const allowed =
      command === undefined
        ? "~gateway:* &gateway:* +@all"
        : SCRIPTS.has(command)
          ? "+eval +evalsha"
          : `+${command}`;
    return `the user of redis.url may not do what is needed: ACL SETUSER … ${allowed} (it answers: ${shorten(message)})`;
  }
  if (code === "MOVED" || code === "ASK")
    return "it is a member of a Redis Cluster, and the user of redis.url may not ask which server has which keys: ACL SETUSER … +cluster|slots";
  if (/SELECT is not allowed in cluster mode/i.test(message))
    return "a Redis Cluster has only database 0: remove the number from redis.url";
  if (/DB index is out of range/i.test(message)) return "it has no database of the number in redis.url";
  if (/unknown command/i.test(message))
    return `it lacks a command that is needed, as a Sentinel does, or it was renamed: redis.url needs the address of a Redis 7 or Valkey server (it answers: ${shorten(message)})`;
  if (/CROSSSLOT/i.test(code))
    return `it divides keys of one hash tag: redis.url needs a Redis Cluster or one server (it answers: ${shorten(message)})`;
  return `it answers: ${shorten(message)}`;
}

/** Texts of a server are shown to operators, in terminals too. */
function shorten(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 200);
}
