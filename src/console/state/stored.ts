/** Reads a value that an earlier visit stored in this browser; null if there is none, or if storage is disabled. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`console.${name}`);
  } catch {
    return null;
  }
}

/** Stores a value in this browser, or removes it with null. Without storage the value lasts until the page is left. */
export function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`console.${name}`);
    else localStorage.setItem(`console.${name}`, value);
  } catch {
    // Nothing depends on it.
  }
}
