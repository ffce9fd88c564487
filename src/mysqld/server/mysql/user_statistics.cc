#include "mysqld/server/user_statistics.h"

namespace hs::mysqld::server {

struct UserStatistics::Counts {};

UserStatistics::UserStatistics(THD* /*thd*/) {}
UserStatistics::~UserStatistics() = default;

void UserStatistics::begin_pass() {}
void UserStatistics::begin(const Request& /*request*/) {}
void UserStatistics::answered(bool /*writes*/) {}
void UserStatistics::end_pass() {}
void UserStatistics::before_reset() {}
void UserStatistics::after_reset() {}

}  // namespace hs::mysqld::server
