import type { Handler } from "../context.ts";
import { getAuditVerdict, listAudit } from "../routes/admin-audit.ts";
import { deleteKey, listKeys, patchKey, postKey } from "../routes/admin-keys.ts";
import { deleteMember, listMembers, putOrganizationMember } from "../routes/admin-members.ts";
import {
  getOrganization,
  listOrganizations,
  patchOrganization,
  postOrganization,
} from "../routes/admin-organizations.ts";
import { getUser, listUsers, patchUser, postUser } from "../routes/admin-users.ts";
import { type Endpoint, serveEndpoint } from "./endpoint.ts";

/** Every endpoint of the management and self-service APIs: routes and documentation are made of this list. */
export const ENDPOINTS: readonly Endpoint[] = [
  listUsers,
  postUser,
  getUser,
  patchUser,
  listOrganizations,
  postOrganization,
  getOrganization,
  patchOrganization,
  listMembers,
  putOrganizationMember,
  deleteMember,
  listKeys,
  postKey,
  patchKey,
  deleteKey,
  listAudit,
  getAuditVerdict,
];

/** Their handlers by path and method. */
export function apiRoutes(): Record<string, Record<string, Handler>> {
  const routes: Record<string, Record<string, Handler>> = {};
  for (const endpoint of ENDPOINTS) {
    routes[endpoint.path] = { ...routes[endpoint.path], [endpoint.method]: serveEndpoint(endpoint) };
  }
  return routes;
}
