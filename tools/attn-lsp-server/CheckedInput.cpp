// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CheckedInput.h. The messages are those of the specification of the
// language server protocol, 3.17: textDocument/didOpen brings a text, and
// textDocument/didChange changes of it or another one.

#include "tools/attn-lsp-server/CheckedInput.h"

#include "runtime/compile/Source.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Protocol.h"

#include <thread>
#include <unistd.h>

using namespace llvm;

namespace attn {

static std::string makeHarmless(std::string text) {
  while (std::optional<ParserFault> fault =
             findParserFault(text, Branches::allowed)) {
    size_t end = fault->position;
    while (end < text.size() &&
           (isAlnum(text[end]) || text[end] == '_' || end == fault->position))
      text[end++] = '_';
  }
  return text;
}

namespace {

/// The texts that are open, by their address, as the editor has them.
class Relay {
public:
  /// Changes `message` to what the server may see.
  void visit(json::Value &message);

private:
  void open(json::Object &document);
  void change(StringRef uri, json::Object &params);

  StringMap<std::string> texts;
};

} // namespace

void Relay::open(json::Object &document) {
  std::optional<StringRef> uri = document.getString("uri");
  std::optional<StringRef> text = document.getString("text");
  if (!uri || !text)
    return;
  texts[*uri] = text->str();
  document["text"] = makeHarmless(text->str());
}

/// The server gets the whole text, as changes of it would be of the harmless
/// one.
void Relay::change(StringRef uri, json::Object &params) {
  json::Array *changes = params.getArray("contentChanges");
  auto found = texts.find(uri);
  if (!changes || found == texts.end())
    return;
  for (const json::Value &value : *changes) {
    lsp::TextDocumentContentChangeEvent event;
    json::Path::Root root("contentChanges");
    // The server closes a text whose change it can't apply.
    if (!fromJSON(value, event, root) || failed(event.applyTo(found->second)))
      return texts.erase(found);
  }
  *changes = json::Array{json::Object{{"text", makeHarmless(found->second)}}};
}

void Relay::visit(json::Value &message) {
  json::Object *object = message.getAsObject();
  std::optional<StringRef> method =
      object ? object->getString("method") : std::nullopt;
  json::Object *params = object ? object->getObject("params") : nullptr;
  json::Object *document = params ? params->getObject("textDocument") : nullptr;
  if (!method || !document)
    return;
  if (*method == "textDocument/didOpen")
    return open(*document);
  std::optional<StringRef> uri = document->getString("uri");
  if (uri && *method == "textDocument/didChange")
    change(*uri, *params);
  else if (uri && *method == "textDocument/didClose")
    texts.erase(*uri);
}

void relayMessages(std::FILE *in, std::FILE *out, lsp::JSONStreamStyle style) {
  lsp::JSONTransportInputOverFile input(in, style);
  Relay relay;
  std::string text;
  while (!input.isEndOfInput() && !input.hasError()) {
    if (failed(input.readMessage(text)))
      continue;
    // What is no JSON is the server's to complain of.
    if (Expected<json::Value> message = json::parse(text)) {
      relay.visit(*message);
      text = formatv("{0}", *message);
    } else {
      consumeError(message.takeError());
    }
    bool isDelimited = style == lsp::JSONStreamStyle::Delimited;
    std::string framed = isDelimited ? text + "\n// -----\n"
                                     : formatv("Content-Length: {0}\r\n\r\n{1}",
                                               text.size(), text);
    if (fwrite(framed.data(), 1, framed.size(), out) != framed.size() ||
        fflush(out) != 0)
      return;
  }
}

std::string checkStandardInput(lsp::JSONStreamStyle style) {
  int pipe[2], before = dup(STDIN_FILENO);
  if (before < 0 || ::pipe(pipe) != 0 || dup2(pipe[0], STDIN_FILENO) < 0)
    return std::string("can't make a pipe: ") + strerror(errno);
  close(pipe[0]);
  std::FILE *in = fdopen(before, "r"), *out = fdopen(pipe[1], "w");
  if (!in || !out)
    return std::string("can't open a pipe: ") + strerror(errno);
  std::thread([in, out, style] {
    relayMessages(in, out, style);
    fclose(out);
  }).detach();
  return "";
}

} // namespace attn
