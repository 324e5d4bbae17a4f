import { dlopen, FFIType, ptr } from "bun:ffi";

const SOL_SOCKET = 1;
const OPTIONS = { send: 7, receive: 8 } as const;
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

type SetSocketOption = (
  descriptor: number,
  level: number,
  option: number,
  value: Int32Array,
  bytes: number,
) => number;

/** Undefined until it is loaded; null if the system does not have it. */
let setSocketOption: SetSocketOption | null | undefined;

/**
 * Bounds the system's buffer of a socket in one direction. By default Linux buffers 4 MB and more for a peer that reads nothing,
 * outside of this process's memory, and the runtime has no setting for it. Connections inherit the bounds of the socket that
 * accepts them. Returns false if the descriptor is not a socket, or the system is not Linux.
 */
export function boundSocketBuffer(
  descriptor: number,
  direction: keyof typeof OPTIONS,
  bytes: number,
): boolean {
  setSocketOption ??= loadSetSocketOption();
  return setSocketOption?.(descriptor, SOL_SOCKET, OPTIONS[direction], Int32Array.of(bytes), 4) === 0;
}

function loadSetSocketOption(): SetSocketOption | null {
  if (process.platform !== "linux") return null;
  for (const library of LIBRARIES) {
    try {
      const { symbols } = dlopen(library, {
        setsockopt: {
          args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32],
          returns: FFIType.i32,
        },
      });
      return (descriptor, level, option, value, bytes) =>
        symbols.setsockopt(descriptor, level, option, ptr(value), bytes);
    } catch {
      // Tries the library of another system.
    }
  }
  return null;
}
