// Shell texts, as a JSON list on standard input -> for each the names of its simple commands in order, or null where mvdan-sh refuses it.
const { syntax } = require("mvdan-sh");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const printer = syntax.NewPrinter();

function names(text) {
  let file;
  try {
    file = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(text, "x.sh");
  } catch (error) {
    return null;
  }
  const found = [];
  syntax.Walk(file, (node) => {
    if (node && syntax.NodeType(node) === "CallExpr" && node.Args.length) {
      const word = node.Args[0];
      const lit = word.Lit();
      found.push([word.Pos().Offset(), lit === "" ? "?" : lit]);
    }
    return true;
  });
  return found.sort((a, b) => a[0] - b[0]).map((item) => item[1]);
}

console.log(JSON.stringify(texts.map(names)));
