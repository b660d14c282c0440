import { readFileSync } from 'node:fs';
import { type Copy, DockerfileParser, type From, type Instruction } from 'dockerfile-ast';
import { ROOT } from '../root.ts';

/** One instruction: `COPY`, its flags without dashes, and the rest of the line with variables filled in. */
export interface Step {
  readonly keyword: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  /** An external image, the name of an earlier stage, or `scratch`. */
  readonly from: string;
  readonly steps: readonly Step[];
}

export const DOCKERFILE = 'deploy/docker/Dockerfile';

/** The stages of the Dockerfile, in order; global arguments have their default values. */
export function readStages(): Stage[] {
  const dockerfile = DockerfileParser.parse(readFileSync(`${ROOT}${DOCKERFILE}`, 'utf8'));
  const globals = new Map(
    dockerfile.getInitialARGs().map((arg) => {
      const property = arg.getProperty();
      return [property?.getName() ?? '', property?.getValue() ?? ''] as const;
    }),
  );
  const fill = (text: string) => text.replace(/\$\{(\w+)\}/g, (_, name: string) => globals.get(name) ?? '');
  const stages: { name: string; from: string; steps: Step[] }[] = [];
  for (const instruction of dockerfile.getInstructions()) {
    const step = toStep(instruction);
    if (step.keyword === 'FROM') {
      const [from = '', , name = ''] = fill(step.text).split(/\s+/);
      stages.push({ name, from, steps: [] });
    } else stages.at(-1)?.steps.push(step);
  }
  return stages;
}

function toStep(instruction: Instruction): Step {
  const flags = 'getFlags' in instruction ? (instruction as Copy | From).getFlags() : [];
  return {
    keyword: instruction.getKeyword(),
    flags: Object.fromEntries(flags.map((flag) => [flag.getName(), flag.getValue() ?? ''])),
    text: instruction.getArgumentsContent() ?? '',
  };
}

/** The words of the exec form `["a", "b"]`, which needs no shell. @throws SyntaxError for any other form */
export function execForm(text: string): string[] {
  return JSON.parse(text) as string[];
}

/** The ports of an image: of the API, then of operations. */
export function exposedPorts(target: string): string[] {
  const { steps = [] } = readStages().find(({ name }) => name === target) ?? {};
  return steps.find(({ keyword }) => keyword === 'EXPOSE')?.text.split(' ') ?? [];
}
