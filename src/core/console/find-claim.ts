type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns the value of a claim by its name or path. `realm_access.roles` is the claim of that name, otherwise the member `roles` of the
 * claim `realm_access`. Names may contain dots themselves, as URLs do. Undefined if there is none.
 */
export function findClaim(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let dot = path.indexOf("."); dot > 0; dot = path.indexOf(".", dot + 1)) {
    const head = path.slice(0, dot);
    const value = Object.hasOwn(claims, head) ? claims[head] : undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    const found = findClaim(value as Claims, path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Why the value of a claim is not known. */
export type Unknown = "absent" | "too many";

/**
 * Returns why the value of a claim is unknown; null if it is known. A provider may omit a claim, or state that it is too long for the token
 * (`_claim_names`, OpenID Connect Core 5.6.2; `hasgroups` of Microsoft Entra). In the second case the token has only a part of the value,
 * or nothing. https://learn.microsoft.com/en-us/entra/identity-platform/id-token-claims-reference#groups-overage-claim
 */
export function findUnknown(claims: Claims, path: string): Unknown | null {
  const elsewhere = claims["_claim_names"];
  const [head = path] = path.split(".");
  const isElsewhere =
    typeof elsewhere === "object" &&
    elsewhere !== null &&
    (Object.hasOwn(elsewhere, path) || Object.hasOwn(elsewhere, head));
  const hasGroups = claims["hasgroups"] === true || claims["hasgroups"] === "true";
  if (isElsewhere || (path === "groups" && hasGroups)) return "too many";
  const value = findClaim(claims, path);
  return value === undefined || value === null ? "absent" : null;
}

/** Returns the claims of the ID token, completed with those of the userinfo endpoint. */
export function addClaims<Known extends Claims>(
  claims: Known,
  missing: readonly string[],
  info: Claims,
): Known {
  const added: Record<string, unknown> = {};
  for (const path of missing) {
    const value = findClaim(info, path);
    if (findUnknown(info, path) === null) added[path] = value;
  }
  const elsewhere = claims["_claim_names"];
  const found = Object.keys(added);
  if (found.length === 0) return claims;
  // Claims of the endpoint are complete.
  const rest =
    typeof elsewhere === "object" && elsewhere !== null
      ? {
          _claim_names: Object.fromEntries(
            Object.entries(elsewhere).filter(([name]) => !found.includes(name)),
          ),
        }
      : {};
  return { ...claims, ...rest, ...(found.includes("groups") ? { hasgroups: false } : {}), ...added };
}
