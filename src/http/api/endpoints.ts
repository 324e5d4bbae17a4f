import type { Handler } from "../context.ts";
import { deleteKey, listKeys, postKey } from "../routes/admin-keys.ts";
import {
  deleteProviderKey,
  listProviderKeys,
  patchProviderKey,
  postProviderKey,
  testProviderKey,
} from "../routes/admin-provider-keys.ts";
import { type Endpoint, serveEndpoint } from "./endpoint.ts";

/** Every endpoint of the management and self-service APIs: routes and documentation are made of this list. */
export const ENDPOINTS: readonly Endpoint[] = [
  listKeys,
  postKey,
  deleteKey,
  listProviderKeys,
  postProviderKey,
  patchProviderKey,
  deleteProviderKey,
  testProviderKey,
];

/** Their handlers by path and method. */
export function apiRoutes(): Record<string, Record<string, Handler>> {
  const routes: Record<string, Record<string, Handler>> = {};
  for (const endpoint of ENDPOINTS) {
    routes[endpoint.path] = { ...routes[endpoint.path], [endpoint.method]: serveEndpoint(endpoint) };
  }
  return routes;
}
