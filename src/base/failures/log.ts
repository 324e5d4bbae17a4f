export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Readonly<Record<string, unknown>>;

/** Receives log events. Their fields never contain a body, a key or a client address. */
export interface Log {
  debug(event: string, fields?: Fields): void;
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
}

/** Writes nothing. Used by commands, because the gateway logs problems of the catalog. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
