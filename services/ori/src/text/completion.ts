/** A command, or a group of commands, for the completion. */
export interface Completable {
  /** The names below `ori`; empty for `ori` itself. */
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly { readonly flags: readonly string[]; readonly description: string }[];
  readonly takesIntern?: boolean;
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Prints the names of the profiles, without contacting a server. */
const PROFILES = `command ori profiles --json 2>/dev/null | grep -o '"name": *"[^"]*"' | cut -d'"' -f4`;

/** Prints the names of the interns that were listed last, without contacting a server. */
const INTERNS = 'command ori interns list --cached 2>/dev/null';

/**
 * The completion script for a shell: commands and options, in zsh and fish with descriptions; interns, profiles behind
 * `--profile`, and files elsewhere.
 */
export function renderCompletion(shell: Shell, commands: readonly Completable[]): string {
  if (shell === 'fish') return renderFish(commands);
  const everywhere = commands.find(({ path }) => path.length === 0)?.options ?? [];
  const cases = commands.map(({ path, commands: below, options }) => {
    const flags = [...options, ...(below.length === 0 ? everywhere : [])].flatMap((option) =>
      option.flags.map((name) => ({ name, description: option.description })),
    );
    const words = [...new Map([...below, ...flags].map((word) => [word.name, word])).values()];
    const candidates = words.map(({ name, description }) =>
      shell === 'bash' ? name : quoted(`${name}:${description}`),
    );
    return `    ${quoted(path.map((part) => ` ${part}`).join(''))}) candidates=(${candidates.join(' ')}) ;;`;
  });
  return (shell === 'bash' ? BASH : ZSH)
    .replace('@TAKING@', pathsOf(commands.filter(({ takesIntern }) => takesIntern)))
    .replace('@PATHS@', pathsOf(commands.filter(({ path }) => path.length > 0)))
    .replace('@CASES@', () => cases.join('\n'));
}

/** A pattern of the shell for these commands; a blank if there are none. */
function pathsOf(commands: readonly Completable[]): string {
  return commands.map(({ path }) => quoted(` ${path.join(' ')}`)).join('|') || quoted(' ');
}

const WALK = `  for word in @WORDS@; do
    case "$at $word" in @PATHS@) at="$at $word" ;; esac
  done
  case "$at" in
@CASES@
  esac
  # The first argument of a command.
  interns=
  case "$at" in @TAKING@) [ "\${at##* }" = @BEFORE@ ] && interns=$(${INTERNS}) ;; esac`;

const walk = (words: string, before: string) => WALK.replace('@WORDS@', words).replace('@BEFORE@', before);

const BASH = `# bash completion of ori: source <(ori completion bash)
_ori() {
  local word at= candidates interns current="\${COMP_WORDS[COMP_CWORD]}"
  if [ "\${COMP_WORDS[COMP_CWORD-1]}" = --profile ]; then
    COMPREPLY=($(compgen -W "$(${PROFILES})" -- "$current"))
    return
  fi
${walk(`"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`, `"\${COMP_WORDS[COMP_CWORD-1]}"`)}
  COMPREPLY=($(compgen -W "\${candidates[*]} $interns" -- "$current"))
}
complete -o default -F _ori ori
`;

const ZSH = `#compdef ori
# zsh completion of ori: source <(ori completion zsh)
_ori() {
  local word at= interns
  local -a candidates
  if [ "$words[CURRENT-1]" = --profile ]; then
    compadd -- $(${PROFILES})
    return
  fi
${walk(`"\${(@)words[2,CURRENT-1]}"`, '"$words[CURRENT-1]"')}
  [ -n "$interns" ] && compadd -- \${(f)interns}
  _describe ori candidates
  _files
}
compdef _ori ori
`;

function renderFish(commands: readonly Completable[]): string {
  const lines = ['# fish completion of ori: ori completion fish | source'];
  for (const { path, commands: below, options, takesIntern } of commands) {
    const names = below.map(({ name }) => name).join(' ');
    const seen = path.map((part) => `__fish_seen_subcommand_from ${part}`);
    const here = path.length === 0 ? ['__fish_use_subcommand'] : seen;
    const open =
      names === '' || path.length === 0 ? here : [...here, `not __fish_seen_subcommand_from ${names}`];
    const condition = quoted(open.join('; and '));
    if (takesIntern) {
      const first = quoted([...open, `test (commandline -opc)[-1] = ${path.at(-1)}`].join('; and '));
      lines.push(`complete -c ori -f -n ${first} -a ${quoted(`(${INTERNS})`)}`);
    }
    for (const { name, description } of below)
      lines.push(`complete -c ori -f -n ${condition} -a ${name} -d ${quoted(description)}`);
    const scope = path.length === 0 ? '' : ` -n ${condition}`;
    for (const { flags, description } of options) {
      const values = flags.includes('--profile') ? ` -x -a ${quoted(`(${PROFILES})`)}` : '';
      lines.push(
        `complete -c ori${scope} ${flags.map(fishFlag).join(' ')} -d ${quoted(description)}${values}`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

function fishFlag(flag: string): string {
  return flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
}

function quoted(text: string): string {
  return `'${text.replace(/'/g, `'\\''`)}'`;
}
