/** Runs `count` tasks, `lanes` of them at a time. The results are ordered by index. */
export async function inLanes<T>(
  count: number,
  lanes: number,
  doOne: (index: number) => Promise<T>,
): Promise<T[]> {
  const answers = new Array<T>(count);
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) answers[index] = await doOne(index);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return answers;
}
