/** A worker that fails with each message. */
declare const self: Worker;

self.onmessage = () => {
  throw new Error("the worker has failed");
};
