#include "session/session.h"

#include <cassert>
#include <utility>

#include "protocol/reply.h"

namespace hs::session {
namespace {

using protocol::Kind;
using protocol::Modification;
using protocol::Request;
using store::Outcome;

bool is_write(const Request& request) {
  return request.kind == Kind::insert ||
         (request.kind == Kind::find && request.find.modification != Modification::none);
}

Counter counter_of(const Request& request) {
  switch (request.kind) {
    case Kind::open_index: return Counter::requests_open_index;
    case Kind::find:
      return request.find.modification == Modification::none ? Counter::requests_find
                                                             : Counter::requests_find_modify;
    case Kind::insert: return Counter::requests_insert;
    case Kind::auth: return Counter::requests_auth;
  }
  return Counter::requests_malformed;
}

// Takes the same time wherever the first difference is.
bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  assert(!secret.empty());
  std::size_t difference = given.size() ^ secret.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i] ^ secret[i % secret.size()]);
  }
  return difference == 0;
}

}  // namespace

Status Session::admit(std::string_view line, Workspace& workspace, OpenIndex*& index) {
  const Status parsed = workspace.parsed = workspace.parser.parse(line, workspace.request);
  if (parsed.error() == Error::cmd || parsed.error() == Error::authtype) return parsed;
  const bool is_auth = parsed.ok() && workspace.request.kind == Kind::auth;
  if (!config_.secret.empty() && !authorised_ && !is_auth) return Error::unauth;
  if (workspace.parser.has_index_id()) {
    index = indexes_.find(workspace.request.index_id);
    if (index == nullptr) return Error::stmtnum;
    if (!config_.writable && workspace.parser.is_modification()) return Error::readonly;
    if (parsed.error() == Error::klen && !workspace.parser.is_modification() &&
        index->index != nullptr && workspace.parser.key_count() > index->index->key_parts()) {
      return Error::kpnum;
    }
  }
  return parsed;
}

Answer Session::execute(std::string_view line, Workspace& workspace, Buffer& out) {
  if (owner_ != &workspace.store) [[unlikely]] {
    indexes_.forget_indexes();
    owner_ = &workspace.store;
  }
  OpenIndex* index = nullptr;
  const Request& request = workspace.request;
  Answer answer;
  Outcome outcome = admit(line, workspace, index);
  const bool admitted = outcome.status().ok();
  if (workspace.parsed.ok()) answer.counter = counter_of(request);
  if (admitted) {
    answer.write = is_write(request);
    if (index != nullptr && index->index == nullptr) [[unlikely]]
      outcome = open_again(workspace, *index);
  }
  if (admitted && outcome.ok()) {
    switch (request.kind) {
      case Kind::find:
        outcome = answer.write ? workspace.store.modify(*index->index, request.find, out)
                               : workspace.store.find(*index->index, request.find, out, nullptr);
        break;
      case Kind::insert:
        outcome = workspace.store.insert(*index->index, request.insert, out);
        break;
      case Kind::open_index:
        outcome = open_index(workspace);
        if (outcome.ok()) protocol::ReplyWriter(out).ok();
        break;
      case Kind::auth:
        outcome = authorise(workspace);
        if (outcome.status().ok()) protocol::ReplyWriter(out).ok();
        break;
    }
  }
  answer.verdict = outcome.verdict();
  answer.ok = outcome.status().ok();
  if (outcome.answered() && !answer.ok) protocol::ReplyWriter(out).error(outcome.status());
  return answer;
}

Outcome Session::open_index(Workspace& workspace) {
  const Request& request = workspace.request;
  std::string names = join_names(request.open_index);
  if (!indexes_.has_room(request.index_id, names.size())) return Error::stmtnum;
  std::shared_ptr<store::Index> opened;
  const Outcome outcome = workspace.store.open_index(request.open_index, opened);
  if (!outcome.ok()) return outcome;
  workspace.changes.push_back(
      {.session = this,
       .of_index = true,
       .authorised = authorised_,
       .index_id = request.index_id,
       .index = indexes_.set(request.index_id, {std::move(opened), std::move(names)})});
  return outcome;
}

Outcome Session::open_again(Workspace& workspace, OpenIndex& index) {
  return workspace.store.open_index(split_names(index.names), index.index);
}

Status Session::authorise(Workspace& workspace) {
  if (config_.secret.empty() ||
      !equal_in_constant_time(workspace.request.auth.secret, config_.secret)) {
    return Error::unauth;
  }
  workspace.changes.push_back(
      {.session = this, .of_index = false, .authorised = authorised_, .index_id = 0, .index = {}});
  authorised_ = true;
  return {};
}

void Session::undo(SessionChange& change) {
  authorised_ = change.authorised;
  if (change.of_index) indexes_.set(change.index_id, std::move(change.index));
}

}  // namespace hs::session
