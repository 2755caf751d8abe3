"""The contrast of text, asked once for each look: axe-core's dearest rule, on pages that look much alike.

What the rule says of a text follows from how it looks: its colour, size and weight, and what is painted behind it. A
look that axe-core has passed is not asked again. One that it passed over, as hidden or disabled, stays to be asked.
"""

from __future__ import annotations

from playwright.sync_api import Page

from tests.fixtures.browser import axe_load, violation_line

# Gives a page's violations, and the looks that passed, of elements whose look is not among the `known` ones. A document
# remembers those that it was told; null stands for them, and "new" is the answer of one that was told none.
ASK = """async ([known, few, options]) => {
  const FIELDS = 'select, textarea, input:not([type=checkbox], [type=radio], [type=range], [type=color])';
  if (known) document.looksThatPassed = new Set(known);
  const seen = document.looksThatPassed;
  if (!seen) return 'new';
  const styles = new Map();
  const style = (element) => {
    if (!styles.has(element)) styles.set(element, getComputedStyle(element));
    return styles.get(element);
  };
  const behind = new Map();
  // What is painted behind an element, and on it: its own, then what its parent adds.
  const painted = (element) => {
    if (!element) return '';
    if (!behind.has(element)) {
      const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position } = style(element);
      const own = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode];
      if (position !== 'static' && position !== 'relative') own.push(position, element.className);
      const plain = own.join() === 'rgba(0, 0, 0, 0),none,1,none,normal';
      behind.set(element, (plain ? '' : `${own.join()};`) + painted(element.parentElement));
    }
    return behind.get(element);
  };
  const look = (element) => {
    const { color, fill, fontSize, fontWeight, textShadow } = style(element);
    return [color, fill, fontSize, fontWeight, textShadow, painted(element)].join('|');
  };
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  // As axe-core does, it passes over what consists of punctuation alone.
  const PUNCTUATION = /^[\\s\\u2000-\\u206F\\\\'!"#$%&()*+,\\-./:;<=>?@[\\]^_`{|}~]*$/;
  const saysSomething = (element) =>
    element.matches(FIELDS) || ([...element.childNodes].some(isText) && !PUNCTUATION.test(element.textContent));
  // Text for screen readers alone is cut down to a pixel.
  const isShown = (element) =>
    element.checkVisibility() && [...element.getClientRects()].some(({ width, height }) => width > 1 && height > 1);
  const unknown = new Map();
  for (const element of document.body.querySelectorAll('*')) {
    if (!saysSomething(element) || !isShown(element) || seen.has(look(element))) continue;
    if (!unknown.has(look(element))) unknown.set(look(element), []);
    unknown.get(look(element)).push(element);
  }
  // What has an image behind it cannot be measured anywhere; what passes without a ratio was out of sight.
  const isTold = ({ data }) => data?.contrastRatio || ['bgImage', 'bgGradient'].includes(data?.messageKey);
  const passed = new Set();
  const wrong = [];
  let redrawn = false;
  const ask = async (include) => {
    // A chart that is drawn again meanwhile takes its elements away: then the page is looked at anew.
    if (!include.every((element) => element.isConnected)) redrawn = true;
    if (!include.length || redrawn) return;
    const { violations, passes, incomplete } = await axe.run({ include }, options);
    for (const node of [...passes, ...incomplete].flatMap((rule) => rule.nodes))
      if (node.any.some(isTold)) passed.add(look(node.element));
    for (const node of violations.flatMap((rule) => rule.nodes)) delete node.element;
    wrong.push(...violations);
  };
  const alike = [...unknown.values()];
  await ask(alike.flatMap((elements) => elements.slice(0, few)));
  // Those of which none was measured: the others of their look.
  await ask(alike.flatMap((elements) => (passed.has(look(elements[0])) ? [] : elements.slice(few))));
  if (redrawn) return null;
  passed.forEach((each) => seen.add(each));
  return [wrong, [...passed]];
}"""
# So often is a page looked at whose charts are drawn again.
TIMES = 5
# So many of each look are asked at first.
FEW = 3
OPTIONS = {
    "runOnly": {"type": "rule", "values": ["color-contrast"]},
    "resultTypes": ["violations", "passes", "incomplete"],
    "elementRef": True,
    "preload": False,
}


class Contrast:
    """The looks that passed so far, on any page, in any width and theme."""

    def __init__(self) -> None:
        self.passed: set[str] = set()

    def violations(self, page: Page) -> list[str]:
        """Return the violations of a page as it stands, one line each, of looks that have not passed elsewhere."""
        for _ in range(TIMES):
            answer = page.evaluate(ASK, [None, FEW, OPTIONS])
            if answer == "new":
                axe_load(page)
                answer = page.evaluate(ASK, [sorted(self.passed), FEW, OPTIONS])
            if answer:
                break
        else:
            raise AssertionError(f"the page was drawn again {TIMES} times")
        found, passed = answer
        self.passed |= set(passed)
        return [violation_line(rule, node) for rule in found for node in rule["nodes"]]
