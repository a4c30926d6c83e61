//! The file systems: one battery for all of them, attacks on the real one, full disks, and chance.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the tests look at the real tree from outside")]
#![expect(clippy::print_stderr, reason = "a test that cannot run says so aloud")]

mod battery;
mod chance;
mod confinement;
mod full_disk;
mod limits;
mod operations;
mod races;
mod scratch;
mod streams;
#[path = "../there_and_back/mod.rs"]
mod there_and_back;
mod trash;

exacta_world::tests! {
    battery::every_backend_behaves_the_same,
    chance::all_file_systems_agree_on_random_operations,
    chance::what_happens_by_chance_can_be_undone,
    chance::random_paths_lead_where_the_model_says,
    chance::random_bytes_are_no_way_out,
    confinement::no_operation_leaves_by_any_way,
    confinement::links_out_can_be_made_moved_and_removed_but_not_followed,
    confinement::directory_handles_stay_inside,
    confinement::a_root_that_is_everything_grants_nothing,
    confinement::planted_state_leads_nowhere,
    confinement::what_is_hard_linked_from_outside_is_the_operators_doing,
    confinement::a_root_under_tmp,
    full_disk::a_full_disk_costs_nothing_that_was_there,
    full_disk::a_file_that_may_not_grow_keeps_its_content,
    full_disk::what_a_crash_left_is_cleared_when_a_session_begins,
    full_disk::what_another_session_keeps_is_not_cleared,
    full_disk::a_file_is_truncated_when_it_is_opened,
    full_disk::a_small_file_keeps_its_inode,
    full_disk::a_large_file_keeps_its_attributes,
    limits::names_and_paths_of_every_length,
    limits::a_chain_of_links_is_followed_forty_times,
    limits::a_hundred_thousand_entries,
    limits::a_very_deep_tree_in_memory_goes_quietly,
    limits::memory_is_not_endless,
    limits::what_may_not_be_read,
    races::a_swapped_link_never_leads_out,
    races::a_swapped_link_never_leads_out_by_walking,
    races::a_swapped_file_never_leads_out,
    streams::a_fifo_without_a_partner_ends_with_the_request,
    streams::a_fifo_connects_a_writer_and_a_reader,
    streams::a_pipe_ends_with_the_request,
    streams::a_wall_clock_limit_counts_too,
    streams::sockets_and_devices_in_the_project_are_not_opened,
    streams::descriptors_block,
    trash::a_deleted_file_is_in_the_trash_with_its_record,
    trash::a_name_deleted_often_never_collides,
    trash::long_names_fit,
    trash::git_does_not_see_the_trash,
    trash::the_private_tmp_is_deleted_for_good,
    trash::the_private_tmp_comes_back_when_somebody_deletes_it,
    trash::across_file_systems,
    trash::nothing_is_made_before_it_is_needed,
}
