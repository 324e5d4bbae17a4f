/** Returns whether `scope` is one of the names under which the health of a provider is recorded (`healthScopeOf`). */
export function isScopeOf(slug: string, scope: string): boolean {
  return scope === slug || scope.startsWith(`${slug} `);
}
