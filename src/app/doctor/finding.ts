import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Config } from "../config/config-schema.ts";
import type { Environment } from "../config/read-provider-keys.ts";
import type { ConfigFindings } from "../serving/find-config-problems.ts";

/** How bad a finding is. `failure`: a start fails, or requests do. */
type FindingStatus = "ok" | "warning" | "failure";

/** The result of one check of the installation. */
export interface Finding {
  readonly status: FindingStatus;
  readonly text: string;
  /** What the operator should do; null if nothing. */
  readonly remedy: string | null;
}

/** The installation that the checks examine. */
export interface DoctorScene {
  readonly config: Config;
  readonly findings: ConfigFindings;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
}

/** A check of one subject. It changes nothing. If it rejects, the error becomes a failure. */
export interface Check {
  readonly name: string;
  readonly run: (scene: DoctorScene) => Promise<readonly Finding[]> | readonly Finding[];
}

/** Returns the finding that something is as it should be. */
export function ok(text: string): Finding {
  return { status: "ok", text, remedy: null };
}

/** Returns the finding that a newer version has changed the tables, and that this version, which has schema `known`, works on them. */
export function reportSharedSchema(version: number, known: number): Finding {
  return ok(`it has schema ${version} of a newer version; this version, with schema ${known}, works on it`);
}

/** Returns the finding that something works and should be changed. */
export function warning(text: string, remedy: string): Finding {
  return { status: "warning", text, remedy };
}

/** Returns the finding that something does not work. */
export function failure(text: string, remedy: string): Finding {
  return { status: "failure", text, remedy };
}
