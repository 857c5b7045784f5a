"""Every ability of MegCC's dynamic models, and every trap of formats like it, has a test."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FEATURES = {
    "a dynamic shape is recognised by what operators are": """
        build/test_values.py::test_nonzero_reads_how_many_there_are_and_nothing_else
        build/test_values.py::test_topk_of_a_computed_k
        build/test_values.py::test_range_between_values
        build/test_values.py::test_tile_by_values
        build/test_values.py::test_resize_to_computed_sizes
        build/test_crops.py::test_crops_of_predicted_boxes_are_dynamic_end_to_end
        build/test_crops.py::test_reads_are_the_tensors_that_shapes_depend_on""",
    "a deduce function gives the shape before the kernel runs": """
        test_dynamic.py::test_a_shape_that_depends_on_values_is_deduced_before_the_kernel_runs""",
    "a workspace function gives the kernel's own memory": """
        test_dynamic.py::test_a_workspace_function_gives_the_bytes_that_a_kernel_gets_for_itself
        test_dynamic.py::test_a_workspace_grows_otherwise_stays_and_is_freed_at_unload
        test_dynamic.py::test_a_workspace_of_a_known_size_is_there_before_the_first_run
        test_dynamic.py::test_an_impossible_workspace_is_an_error""",
    "memory is kept while the next shape fits, and grows otherwise": """
        test_dynamic.py::test_a_dynamic_tensor_keeps_its_memory_while_the_next_shape_fits
        test_dynamic.py::test_it_grows_otherwise_by_a_quarter_at_least""",
    "memory is freed at unload": """
        test_dynamic.py::test_its_memory_is_freed_at_unload""",
    "static kernels are bound without deduction": """
        test_shape_sets.py::test_static_kernels_are_bound_without_deduction""",
    "a reshape is a MemForward, also of an external input": """
        build/test_build.py::test_flatten_is_a_forward
        test_dynamic.py::test_a_reshape_is_a_forward_that_moves_no_byte_of_an_external_input
        test_dynamic.py::test_a_contiguous_slice_is_a_forward_with_an_offset""",
    "a reshape of an input switches the device model": """
        build/test_build.py::test_reshape_of_an_input_switches_and_old_views_raise
        test_shape_sets.py::test_switching_allocates_nothing_and_memory_is_that_of_the_largest_set""",
    "a shape that matches none is an error": """
        build/test_build.py::test_a_shape_without_a_set_lists_the_sets
        test_shape_sets.py::test_a_shape_without_a_set_is_an_error_and_changes_nothing""",
    "exactly one device model is active, the first by default": """
        test_shape_sets.py::test_the_first_set_is_active_by_default""",
    "several inputs can be reshaped": """
        test_shape_sets.py::test_two_inputs_are_looked_up_together_in_all_combinations
        test_shape_sets.py::test_one_input_after_the_other_reaches_a_set_in_either_order""",
    "several devices from one file, of which the others are not initialised": """
        test_devices.py::test_several_devices_from_one_file_and_the_unselected_is_not_initialised
        test_devices.py::test_damage_of_what_is_not_selected_does_no_harm""",
    "devices and shapes are attributes, not suffixes of names": """
        test_devices.py::test_suffixes_and_duplicates_are_devices_and_shape_sets_not_names""",
}
TRAPS = {
    "memory grows with every new shape": """
        test_dynamic.py::test_growing_and_shrinking_10_000_times_leaves_the_memory_flat""",
    "weights, or workspaces, once per shape set": """
        build/test_build.py::test_weights_are_there_once_for_all_sets
        build/test_build.py::test_memory_is_that_of_the_largest_set_and_the_weights_once
        build/test_repeated.py::test_what_kernels_take_for_themselves_is_one_workspace""",
    "switching costs": """
        test_devices.py::test_switching_takes_under_1_ms
        build/test_repeated.py::test_switches_in_between_change_nothing""",
    "stale state after a switch, in any order": """
        test_shape_sets.py::test_every_order_of_switches_gives_the_right_results""",
    "an old input's memory is used by what was recorded": """
        build/test_repeated.py::test_an_input_elsewhere_is_noticed""",
    "only the count of elements is held against a bound": """
        test_shape_sets.py::test_bounds_hold_for_each_dimension""",
    "tests at the bound only": """
        test_shape_sets.py::test_bounded_models_never_allocate_again
        build/test_transformer.py::test_bounds_make_it_a_model_that_never_allocates""",
    "sizes frozen in a reshape": """
        ../../compiler/graph/symbolic/test_onnx_graph.py::test_sizes_frozen_in_a_reshape_are_found""",
    "empty tensors": """
        test_dynamic.py::test_empty_tensors_are_legal_and_their_calls_are_skipped
        build/test_crops.py::test_a_window_over_an_empty_crop_is_an_error_and_the_next_run_works""",
    "results that the next run overwrites": """
        test_results.py::test_what_was_read_stays_what_it_was
        test_results.py::test_a_view_of_a_result_is_stale_once_the_next_run_began
        test_results.py::test_results_of_one_context_stay_while_another_runs
        build/test_pipeline.py::test_runs_in_flight_give_what_runs_one_by_one_give""",
    "memory shared by uses that do not happen one before the other": """
        test_results.py::test_memory_is_not_written_again_before_it_is_copied_to_another_device
        ../../compiler/module/test_plan.py::test_no_two_that_live_together_share_bytes
        build/test_in_place.py::test_what_is_read_later_is_not_written_over""",
    "hostile files": """
        test_file.py::test_a_file_that_is_cut_short_is_refused
        test_file.py::test_a_changed_segment_is_refused_when_it_is_used
        ../../fuzz/test_assay_modules.py::test_lies_under_a_right_checksum_are_refused_or_harmless
        ../../fuzz/test_assay_modules.py::test_every_truncation_is_refused
        test_flow.py::test_regions_that_enter_each_other""",
    "sizes in 32 bits": """
        test_dynamic.py::test_sizes_that_overflow_end_in_an_error_and_allocate_nothing
        test_expressions.py::test_what_does_not_fit_64_bits_is_an_error""",
}


@pytest.mark.parametrize("subject", [*FEATURES, *TRAPS])
def test_every_feature_and_every_trap_has_its_tests(subject: str) -> None:
    for place in (FEATURES | TRAPS)[subject].split():
        file, _, name = place.partition("::")
        assert re.search(rf"^def {name}\(", (HERE / file).read_text(), re.MULTILINE), place
