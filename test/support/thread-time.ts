import { dlopen, FFIType, ptr } from "bun:ffi";

const CLOCK_THREAD_CPUTIME_ID = 3;

/**
 * Returns the precise clock if the C library has its usual name; otherwise the runtime's, which ticks every few
 * milliseconds.
 */
function openClock(): () => number {
  try {
    const { symbols } = dlopen("libc.so.6", {
      clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
    });
    const time = new BigInt64Array(2);
    return () => {
      symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, ptr(time));
      return Number(time[0]) * 1e3 + Number(time[1]) / 1e6;
    };
  } catch {
    return () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1e3;
    };
  }
}

/**
 * Returns the processor time of this thread in milliseconds, which other load on the machine does not affect.
 */
export const threadTimeMs: () => number = openClock();
