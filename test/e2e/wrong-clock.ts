/** The environment of a process on a computer whose clock is wrong. */
export function clockOff(seconds: number): { NODE_OPTIONS: string } {
  const shift = `const D=Date,by=${seconds * 1000};globalThis.Date=class extends D{constructor(...a){if(a.length)super(...a);else super(D.now()+by)}static now(){return D.now()+by}}`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` };
}
