import type { Operations } from "../../api/schema.ts";

/** The balance of an account. */
export type Balance = Operations["GET /api/admin/accounts/{id}/balance"]["response"]["data"];
