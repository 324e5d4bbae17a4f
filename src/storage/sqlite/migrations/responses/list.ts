import type { SqliteMigration } from "../migration.ts";
import { responseObjects } from "./0001-response-objects.ts";

/** The steps that create and change the tables of `responses.db`, in order. */
export const RESPONSE_MIGRATIONS: readonly SqliteMigration[] = [responseObjects];
