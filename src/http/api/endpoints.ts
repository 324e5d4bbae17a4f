import type { Handler } from "../context.ts";
import { postCorrection, postCredits, postRefund } from "../routes/admin-credits.ts";
import { deleteKey, listKeys, postKey } from "../routes/admin-keys.ts";
import { checkLedger, getBalance, listHolds, listLedger } from "../routes/admin-ledger.ts";
import { getUsage } from "../routes/admin-usage.ts";
import { postPayment } from "../routes/payments.ts";
import { getActivity, getCredits, getKey } from "../routes/self-service.ts";
import { type Endpoint, serveEndpoint } from "./endpoint.ts";

/** Every endpoint of the management and self-service APIs: routes and documentation are made of this list. */
export const ENDPOINTS: readonly Endpoint[] = [
  listKeys,
  postKey,
  deleteKey,
  postCredits,
  postCorrection,
  postRefund,
  getBalance,
  listLedger,
  listHolds,
  checkLedger,
  getUsage,
  postPayment,
  getKey,
  getCredits,
  getActivity,
];

/** The handlers of those under one name, or of those behind every prefix, by path and method. */
export function apiRoutes(where: "fixed" | "every prefix"): Record<string, Record<string, Handler>> {
  const routes: Record<string, Record<string, Handler>> = {};
  for (const endpoint of ENDPOINTS) {
    if ((endpoint.everyPrefix === true) !== (where === "every prefix")) continue;
    routes[endpoint.path] = { ...routes[endpoint.path], [endpoint.method]: serveEndpoint(endpoint) };
  }
  return routes;
}
