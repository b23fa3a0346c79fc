// The conformance suite imports `globSync` from `fs`, which Node 20 lacks and no server scenario calls.
// On newer versions of Node this does nothing.
import fs from 'node:fs';
import { register } from 'node:module';

if (!fs.globSync) {
  const hooks = `
    export async function resolve(specifier, context, next) {
      const mine = specifier === 'fs' && context.parentURL?.includes('@modelcontextprotocol/conformance');
      return mine ? { url: 'node20:fs', shortCircuit: true } : next(specifier, context);
    }
    export async function load(url, context, next) {
      if (url !== 'node20:fs') return next(url, context);
      const source = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];";
      return { format: 'module', shortCircuit: true, source };
    }`;
  register('data:text/javascript,' + encodeURIComponent(hooks));
}
