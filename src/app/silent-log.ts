import type { Log } from "../base/log.ts";

/** For commands: problems of the catalog are logged by the gateway. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
